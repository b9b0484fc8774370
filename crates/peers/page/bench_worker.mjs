// The built worker, which also tells how much memory it has: a WebAssembly memory never shrinks, so that is the most it ever needed.
import init from './worker.js';

const wasm = await init({ module_or_path: new URL('./worker_bg.wasm', import.meta.url) });
const channel = new BroadcastChannel(`memory of ${self.name}`);
channel.onmessage = ({ data }) => { if (data === 'how much?') channel.postMessage(wasm.memory.buffer.byteLength); };
