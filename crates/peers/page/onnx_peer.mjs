// onnxruntime-web on one thread, with past; files as `optimum` exports them (encoder, first step, step with past).
import * as ort from './ort/ort.wasm.bundle.min.mjs';

ort.env.wasm.numThreads = 1;
ort.env.wasm.wasmPaths = new URL('./ort/', import.meta.url).href;

export class OnnxPeer {
  static async load(kind, ids) {
    const suffix = kind === 'q8' ? '_q8' : '';
    const open = (name) => ort.InferenceSession.create(`onnx/${name}${suffix}.onnx`, { executionProviders: ['wasm'] });
    const self = new OnnxPeer();
    self.encoder = await open('encoder_model');
    self.first = await open('decoder_model');
    self.step = await open('decoder_with_past_model');
    self.ids = new ort.Tensor('int64', BigInt64Array.from(ids, BigInt), [1, ids.length]);
    self.mask = new ort.Tensor('int64', new BigInt64Array(ids.length).fill(1n), [1, ids.length]);
    return self;
  }

  async encode() {
    this.hidden = (await this.encoder.run({ input_ids: this.ids, attention_mask: this.mask })).last_hidden_state;
  }

  async generate(count) {
    const past = {};
    const keep = (output) => { for (const name in output) if (name !== 'logits') past[name.replace('present', 'past_key_values')] = output[name]; };
    const id = (value) => new ort.Tensor('int64', [value], [1, 1]);
    let output = await this.first.run({ input_ids: id(0n), encoder_attention_mask: this.mask, encoder_hidden_states: this.hidden });
    keep(output);
    for (let made = 1; made < count; made++) {
      const logits = output.logits.data;
      let best = 0;
      for (let index = 1; index < logits.length; index++) if (logits[index] > logits[best]) best = index;
      const feeds = { input_ids: id(BigInt(best)), encoder_attention_mask: this.mask };
      for (const name of this.step.inputNames) if (past[name]) feeds[name] = past[name];
      output = await this.step.run(feeds);
      keep(output);
    }
  }
}
