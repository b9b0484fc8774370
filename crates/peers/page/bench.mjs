// Runs every side on the same work in turn and sends the raw times to `cargo xtask bench`, which makes the tables.
//
// The page's own worker is the built one, asked through its protocol: its times hold tokenizing, messages and JSON. The peers' times hold
// their model alone.
import { PageWorker } from './page_worker.mjs';
import initPeers, { DensePeer, QuantizedPeer, ReadLoop, config_json, model_gguf, tokenizer_json } from './peers.js';

const SOURCE_TOKENS = 24;
const NEW_TOKENS = 40;
const settings = await (await fetch('settings.json')).json();
const rounds = settings.quick ? 3 : 9;
// A browser compiles what runs often once more, and better.
const warmUps = 3;
const report = (path, value) => fetch(`${settings.report_url}${path}`, { method: 'POST', mode: 'no-cors', body: JSON.stringify(value) });
const say = (text) => report('progress', text);

const samples = {};
const record = (name, value) => (samples[name] ??= []).push(value);
const timed = async (work) => { const start = performance.now(); await work(); return performance.now() - start; };
/** A text of so many tokens, the end token included, that was never read before. */
let textsMade = 0;
const text = (tokens) => {
  textsMade += 1;
  return Array.from({ length: tokens - 1 }, (_, place) => `w${100 + ((textsMade * 31 + place * 7) % 30000)}`).join(' ');
};
const greedy = (newTokens, more = {}) => ({ min_new_tokens: newTokens, max_new_tokens: newTokens, alpha: 0.3, ...more });

try {
  await run();
} catch (error) {
  await report('failed', String(error?.stack ?? error));
}

async function run() {
  await say('loading the peers');
  await initPeers();
  const files = [
    new File([config_json()], 'config.json'), new File([tokenizer_json()], 'tokenizer.json'), new File([model_gguf()], 'model.gguf'),
    new File(['{"max_source_tokens":512}'], 'hormone.json'),
  ];
  record('weights_bytes', files[2].size);

  await say('loading the bundled model');
  const bundled = await PageWorker.start();
  record('worker_ready_ms', bundled.readyMs);
  record('bundled_load_ms', await bundled.loadBundled());

  await say('loading T5-small into the worker');
  const ours = await PageWorker.start();
  record('small_load_ms', await ours.loadOwn(files));
  record('small_memory_bytes', await ours.memoryBytes());

  const sides = [{
    name: 'ours',
    encode: async () => { await ours.analyze(text(SOURCE_TOKENS)); },
    // The text that was read last is known: the encoder does not run again.
    generate: async () => { await ours.generate(ours.lastText, [greedy(NEW_TOKENS)]); },
  }];
  const ids = Uint32Array.from({ length: SOURCE_TOKENS }, (_, place) => 100 + place * 7);
  const peer = (name, model) => sides.push({
    name, encode: async () => model.encode(ids),
    generate: async () => { model.encode(ids); const start = performance.now(); model.generate(NEW_TOKENS); return performance.now() - start; },
  });
  if (settings.onnx) {
    await say('loading onnxruntime-web');
    const { OnnxPeer } = await import('./onnx_peer.mjs');
    for (const kind of settings.quick ? ['q8'] : ['q8', 'f32']) {
      const start = performance.now();
      const model = await OnnxPeer.load(kind, ids);
      record(`onnx_${kind}_load_ms`, performance.now() - start);
      sides.push({ name: `onnx_${kind}`, encode: () => model.encode(), generate: () => model.generate(NEW_TOKENS) });
    }
  }
  await say("loading candle-transformers' T5");
  const start = performance.now();
  peer('candle_q8', new QuantizedPeer());
  record('candle_q8_load_ms', performance.now() - start);
  if (!settings.quick) peer('candle_f32', new DensePeer());

  for (let round = -warmUps; round < rounds; round++) {
    await say(round < 0 ? 'warm-up' : `round ${round + 1} of ${rounds}`);
    for (const side of sides) {
      for (let pass = 0; round < 0 && pass < 8; pass++) await side.encode();
      const encode = await timed(side.encode);
      let own;
      const whole = await timed(async () => { own = await side.generate(); });
      if (round < 0) continue;
      record(`${side.name}_encode_ms`, encode);
      record(`${side.name}_tokens_per_second`, NEW_TOKENS * 1000 / (own ?? whole));
    }
    if (round < 0) continue;
    record('read_gigabytes_per_second', readSpeed());
  }

  await say('lanes and beams');
  for (let round = -warmUps; round < rounds; round++) {
    const texts = text(SOURCE_TOKENS);
    await ours.analyze(texts);
    const kinds = {
      one_lane_ms: [greedy(NEW_TOKENS)],
      two_lanes_ms: [greedy(NEW_TOKENS), greedy(NEW_TOKENS, { alpha: 0.0 })],
      four_beams_ms: [greedy(NEW_TOKENS, { decoding: { kind: 'beams', num_beams: 4, length_penalty: 1.0 } })],
    };
    for (const [name, lanes] of Object.entries(kinds)) {
      const ms = await timed(() => ours.generate(texts, lanes));
      if (round >= 0) record(name, ms);
    }
  }

  await say('growth');
  for (let round = -1; round < Math.max(3, rounds - 4); round++) {
    const texts = text(SOURCE_TOKENS);
    await ours.analyze(texts);
    const times = (await ours.generate(texts, [greedy(256)])).tokenMs;
    for (const place of [16, 64, 128, 256]) {
      // The mean of eight steps up to this one.
      if (round >= 0) record(`token_${place}_ms`, (times[place - 1] - times[place - 9]) / 8);
    }
    for (const length of [16, 64, 256, 512]) {
      const ms = await timed(() => ours.analyze(text(length)));
      if (round >= 0) record(`encode_${length}_ms`, ms);
    }
  }

  await say('bundled model');
  const sentence = 'I finally got the job that I wanted, and my whole family came over for dinner';
  for (let round = -5; round < 10 * rounds; round++) {
    const encode = await timed(() => bundled.analyze(`${sentence} ${round + 5}`));
    const reply = await bundled.generate(`${sentence} ${round + 5}!`, [greedy(NEW_TOKENS)]);
    if (round < 0) continue;
    record('bundled_source_tokens', bundled.lastSourceTokens);
    record('bundled_levels_ms', encode);
    record('bundled_first_token_ms', reply.tokenMs[0]);
    record('bundled_tokens_per_second', (NEW_TOKENS - 1) * 1000 / (reply.tokenMs[NEW_TOKENS - 1] - reply.tokenMs[0]));
  }
  await report('done', { samples, quick: settings.quick, browser: navigator.userAgent });
}

/** The best of several passes over as many bytes as one decoder step reads. */
function readSpeed() {
  const loop = (run.loop ??= new ReadLoop(settings.step_bytes));
  let best = Infinity;
  for (let pass = 0; pass < 12; pass++) {
    const start = performance.now();
    loop.read();
    best = Math.min(best, performance.now() - start);
  }
  return settings.step_bytes / best / 1e6;
}
