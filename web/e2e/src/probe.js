// Runs in the page before its own scripts and looks on: what is to be seen, how replies grow, what the worker answered. It changes nothing.
window.probe = (() => {
  const at = (id, root = document) => root.querySelector(`[data-testid="${id}"]`);
  const every = (id) => [...document.querySelectorAll(`[data-testid="${id}"]`)];
  const words = (element) => element?.textContent.trim() ?? "";
  const shown = (element) => Boolean(element?.checkVisibility());

  const can_send = () => at("send")?.ariaDisabled === "false";

  const lane = (name, turn) => {
    const reply = at(`lane-${name}-text`, turn);
    return reply && {
      text: reply.textContent,
      state: reply.dataset.state,
      header: words(at(`lane-${name}`, turn).querySelector("header")),
      timings: words(at(`lane-${name}-timings`, turn)),
    };
  };

  const turns = () => every("turn").map((turn) => ({
    message: words(at("message", turn)),
    remark: words(at("reading-remark", turn)),
    says_equal: shown(at("equal-note", turn)),
    can_retry: Boolean(at("retry", turn)),
    baseline: lane("baseline", turn),
    modulated: lane("modulated", turn),
    own: lane("own", turn),
  }));

  const heatmap = () => {
    const map = at("heatmap");
    return {
      columns: Number(map?.dataset.columns ?? 0),
      words: [...(map?.querySelectorAll("th[scope=col]:not(.special)") ?? [])].map(words),
      percent: [...(map?.querySelectorAll("tbody tr") ?? [])].map((row) => [...row.querySelectorAll("td")].map((cell) => Number(words(cell)))),
    };
  };

  const bars = () => ["dopamine", "serotonin", "cortisol", "oxytocin", "adrenaline", "endorphins"].map((name) => ({
    name,
    level: at(`hormone-bar-${name}`) && Number(at(`hormone-bar-${name}`).getAttribute("aria-valuenow")),
    shown: words(at(`hormone-value-${name}`)),
  }));

  const view = () => ({
    language: document.documentElement.lang,
    title: document.title,
    headings: [...document.querySelectorAll("h1, h2, h3")].filter(shown).map(words),
    examples: every("example-turn").length,
    load: { state: at("load-status")?.dataset.state ?? "none", text: words(at("load-status")) },
    notices: every("error-notice").map(words),
    bars: bars(),
    heatmap: heatmap(),
    alpha: { shown: words(at("alpha-value")), remark: words(at("alpha-remark")) },
    turns: turns(),
    can_send: can_send(),
    can_stop: Boolean(at("stop")),
    draft: at("composer-input")?.value ?? "",
  });

  // Drops a file on the page as a hand would, from hovering to letting go.
  const drop = (name, text) => {
    const files = new DataTransfer();
    files.items.add(new File([text], name));
    const event = (type) => new DragEvent(type, { dataTransfer: files, bubbles: true, cancelable: true });
    document.body.dispatchEvent(event("dragover"));
    return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => {
      const veiled = shown(at("drop-veil"));
      document.body.dispatchEvent(event("drop"));
      done(veiled);
    })));
  };

  // Sets a field as a user's hand would leave it.
  const set = (id, value) => {
    const field = at(id);
    const prototype = field instanceof HTMLTextAreaElement ? HTMLTextAreaElement : HTMLInputElement;
    Object.getOwnPropertyDescriptor(prototype.prototype, "value").set.call(field, value);
    field.dispatchEvent(new Event("input", { bubbles: true }));
    field.dispatchEvent(new Event("change", { bubbles: true }));
  };

  const everything = { subtree: true, childList: true, characterData: true, attributes: true };

  // Every state of the turns from now on, each once.
  let states = [];
  const record = () => {
    const note = () => {
      const state = JSON.stringify(turns());
      if (states.at(-1) !== state) states.push(state);
    };
    states = [];
    note();
    new MutationObserver(note).observe(document.body, everything);
  };

  // Acts as soon as a word of the latest reply is there: no driver is fast enough to be sure of that.
  let waiting = null;
  const at_first_word = (act) => {
    waiting?.disconnect();
    waiting = new MutationObserver(() => {
      if (!turns().at(-1)?.baseline?.text || !at("stop")) return;
      waiting.disconnect();
      act();
    });
    waiting.observe(document.body, everything);
  };
  const stop_at_first_word = () => at_first_word(() => at("stop").click());
  const send_at_first_word = (text) => at_first_word(() => {
    set("composer-input", text);
    at("composer-input").dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true }));
  });

  const answers = [];
  window.Worker = class extends window.Worker {
    constructor(...how) {
      super(...how);
      this.addEventListener("message", (event) => answers.push(event.data));
    }
  };

  // Files that the page hands over are kept here; the browser's own download would end in a folder of the test machine.
  const files = [];
  const blobs = new Map();
  const make_address = URL.createObjectURL;
  URL.createObjectURL = (blob) => {
    const address = make_address.call(URL, blob);
    blobs.set(address, blob);
    return address;
  };
  const click = HTMLAnchorElement.prototype.click;
  HTMLAnchorElement.prototype.click = function () {
    if (!this.download) return click.call(this);
    files.push({ name: this.download, content: blobs.has(this.href) ? blobs.get(this.href).text() : Promise.resolve(this.href) });
  };
  // The newest file of this name, once it is there: its text, or a data address.
  const saved = async (name) => {
    for (let tries = 0; tries < 400; tries++) {
      const file = files.findLast((file) => file.name === name);
      if (file) return await file.content;
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
    return null;
  };

  const when_it_can_be_sent = (act) => {
    const look = setInterval(() => {
      if (!can_send()) return;
      clearInterval(look);
      act();
    }, 20);
  };

  // How the page feels while a reply is made, without looking at it meanwhile: looking takes time of the main thread itself.
  const measure_reply = (message) => new Promise((resolve) => {
    const found = { long_tasks: [], shifts: [] };
    const long_tasks = new PerformanceObserver((list) => found.long_tasks.push(...list.getEntries().map((entry) => entry.duration)));
    const shifts = new PerformanceObserver((list) => {
      for (const entry of list.getEntries().filter((entry) => !entry.hadRecentInput)) {
        found.shifts.push({ value: entry.value, of: entry.sources.map((source) => source.node?.outerHTML?.slice(0, 100) ?? "") });
      }
    });
    set("composer-input", message);
    const begin = () => {
      long_tasks.observe({ type: "longtask" });
      shifts.observe({ type: "layout-shift" });
      let was_running = false;
      const observer = new MutationObserver(() => {
        const running = Boolean(at("stop"));
        was_running ||= running;
        if (!was_running || running) return;
        observer.disconnect();
        // Entries come a little late.
        setTimeout(() => { long_tasks.disconnect(); shifts.disconnect(); resolve(found); }, 600);
      });
      observer.observe(document.body, { subtree: true, attributeFilter: ["data-testid"] });
      at("send").click();
    };
    // The reading of the draft is over before the reply begins.
    setTimeout(() => when_it_can_be_sent(begin), 800);
  });

  // Sends a message, writes another text at the first word of the reply, and tells what the heatmap shows when that text is read or the reply ends.
  const write_while_replying = (message, text) => new Promise((resolve) => {
    set("composer-input", message);
    when_it_can_be_sent(() => at("send").click());
    let written = false;
    const observer = new MutationObserver(() => {
      const running = Boolean(at("stop"));
      if (!written && running && turns().at(-1)?.baseline?.text) {
        written = true;
        set("composer-input", text);
        return;
      }
      const words = heatmap().words.join(" ");
      if (!written || (running && words !== text)) return;
      observer.disconnect();
      resolve({ words, running });
    });
    observer.observe(document.body, everything);
  });

  // How wide the page is, and what reaches over its right edge without a frame of its own that scrolls.
  const overflow = () => {
    const width = document.documentElement.clientWidth;
    const framed = (element) => {
      for (let outer = element.parentElement; outer && outer !== document.body; outer = outer.parentElement) {
        if (getComputedStyle(outer).overflowX !== "visible") return true;
      }
      return false;
    };
    const wide = [...document.body.querySelectorAll("*")].filter((element) => element.getBoundingClientRect().right > width + 0.5 && !framed(element));
    return {
      content: document.scrollingElement.scrollWidth,
      window: window.innerWidth,
      too_wide: wide.map((element) => element.outerHTML.slice(0, 120)),
    };
  };

  return { at, words, view, set, drop, saved, measure_reply, write_while_replying, record, states: () => states.map((state) => JSON.parse(state)), stop_at_first_word, send_at_first_word, answers: () => answers, overflow };
})();
