// The page's worker, asked as the page asks it.
export class PageWorker {
  #worker;
  #listener;
  #nextId = 1;
  #name;
  lastText = '';

  /** A new worker that has said that it is ready. */
  static async start() {
    const started = performance.now();
    const self = new PageWorker();
    self.#name = `worker ${started}`;
    self.#worker = new Worker('bench_worker.mjs', { type: 'module', name: self.#name });
    await new Promise((resolve, reject) => {
      self.#worker.onerror = (event) => reject(new Error(event.message ?? 'the worker did not start'));
      self.#worker.onmessage = ({ data }) => {
        const { response } = JSON.parse(data);
        response.type === 'ready' ? resolve() : reject(new Error(data));
      };
    });
    self.#worker.onmessage = ({ data }) => self.#listener?.(JSON.parse(data).response);
    self.readyMs = performance.now() - started;
    return self;
  }

  /** Posts a request; `heard` gets every answer but the last. */
  #ask(request, heard = () => {}, files = []) {
    return new Promise((resolve, reject) => {
      this.#listener = (response) => {
        if (response.type === 'done') resolve();
        else if (response.type === 'failed' || response.type === 'crashed') reject(new Error(JSON.stringify(response)));
        else heard(response);
      };
      this.#worker.postMessage([JSON.stringify({ id: this.#nextId++, request }), ...files]);
    });
  }

  async #load(request, files) {
    const started = performance.now();
    await this.#ask(request, undefined, files);
    return performance.now() - started;
  }

  loadBundled() { return this.#load({ type: 'load_model', models_url: new URL('models/', location).href, model: null }); }

  loadOwn(files) { return this.#load({ type: 'load_own_files' }, files); }

  async analyze(text) {
    this.lastText = text;
    await this.#ask({ type: 'analyze', text, attention_temperature: null }, (response) => {
      if (response.type === 'reading') this.lastSourceTokens = response.analysis.tokens.length;
    });
  }

  /** Milliseconds from the request to each token's arrival. */
  async generate(text, configs) {
    const started = performance.now();
    const tokenMs = [];
    const lanes = configs.map((config, index) => ({ lane: ['modulated', 'own'][index], config }));
    await this.#ask({ type: 'generate', text, attention_temperature: null, lanes }, (response) => {
      if (response.type === 'token' && response.lane === 'modulated') tokenMs.push(performance.now() - started);
    });
    return { tokenMs };
  }

  /** The most memory that it ever needed. */
  async memoryBytes() {
    const channel = new BroadcastChannel(`memory of ${this.#name}`);
    const answer = new Promise((resolve) => { channel.onmessage = ({ data }) => { if (typeof data === 'number') resolve(data); }; });
    channel.postMessage('how much?');
    const bytes = await answer;
    channel.close();
    return bytes;
  }
}
