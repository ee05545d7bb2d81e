const rows = at("rows"), told = at("told");
const tools = new Map(data.tools.map(tool => [tool.id, tool]));
const calls = new Map(data.calls.map(call => [call.id, call]));
const agents = [...new Set(data.calls.map(call => call.agent))];
const HUES = ["assistant", "user", "system", "link", "tool", "cause"];
const models = [...new Set(data.calls.map(call => call.model))];
const longest = Math.max(...data.rows.map(row => row[2] || 0), 1e-9);
const idOf = ([kind, n]) => (kind === "m" ? data.calls : data.tools)[n].id;
const button = (words, action) => {
  const made = make("button", {type: "button"}, words);
  made.addEventListener("click", action);
  return made;
};
const plural = (count, word) => `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;
const seconds = time => time == null ? "" : time < 0.0005 ? "0 s"
  : time < 1 ? `${Math.round(time * 1000)} ms` : `${time.toFixed(1)} s`;
const oneLine = text => String(text).replace(/\s+/g, " ").replace(/^(.{200}).+/, "$1…");

// ---- the timeline

function depthOf(one) {
  let depth = 0;
  for (let inside = one; inside && inside.parent && depth < 6; depth++) {
    inside = tools.get(inside.parent);
  }
  return depth;
}
function rowOf(row, n) {
  const [kind, number, took] = row;
  const one = (kind === "m" ? data.calls : data.tools)[number];
  const line = make("li", {role: "option", id: "row" + n, "data-n": n, class: kind,
    "aria-selected": "false"}, make("span", {class: "rail"}),
    make("span", {class: "what"}, ...(kind === "m" ? decidedWords(one) : [
      one.tool + " ", make("small", {}, oneLine(one.arguments === "{}" ? "" : one.arguments))])),
    make("span", {class: "took"}, seconds(took)));
  if (took > longest / 50) {
    const bar = make("span", {class: "bar"});
    bar.style.width = `${100 * took / longest}%`;
    line.append(bar);
  }
  line.style.setProperty("--depth", depthOf(one) + (kind === "t"));
  if (agents.length > 1 && kind === "m") {
    line.style.setProperty("--hue", `var(--${HUES[agents.indexOf(one.agent) % HUES.length]})`);
  }
  if (one.error) line.classList.add("failed");
  if (one.findings && one.findings.some(found => found.status === "CAUSE")) {
    line.classList.add("cause");
  }
  return line;
}
function decidedWords(call) {
  const decision = call.decision;
  const what = call.error ? "failed: " + call.error.type
    : !decision ? "no reply"
    : decision.tool_calls.length ? "→ " + namesOf(decision.tool_calls)
    : oneLine(decision.text) || "says nothing";
  return [what + " ", make("small", {}, [agents.length > 1 && call.agent,
    models.length > 1 && call.model].filter(Boolean).join(" · "))];
}
function namesOf(made) {
  const counts = new Map();
  for (const call of made) counts.set(call.name, (counts.get(call.name) || 0) + 1);
  return [...counts].map(([name, count]) => count > 1 ? `${name} ×${count}` : name).join(", ");
}
function sift() {
  const words = at("find").value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const line of rows.children) {
    const [kind, number] = data.rows[line.dataset.n];
    const one = (kind === "m" ? data.calls : data.tools)[number];
    const text = [one.id, line.textContent, one.arguments, one.output,
      one.decision && JSON.stringify(one.decision)].join(" ").toLowerCase();
    line.hidden = !words.every(word => text.includes(word));
    shown += !line.hidden;
  }
  at("none").hidden = shown > 0;
}
const chosen = () => rows.querySelector("[aria-selected=true]");
function choose(line, remember = true) {
  const old = chosen();
  if (old) old.setAttribute("aria-selected", "false");
  line.setAttribute("aria-selected", "true");
  rows.setAttribute("aria-activedescendant", line.id);
  line.scrollIntoView({block: "nearest"});
  const row = data.rows[line.dataset.n];
  told.replaceChildren(...(row[0] === "m" ? callView(data.calls[row[1]], row) :
    toolView(data.tools[row[1]], row)));
  for (const text of told.querySelectorAll(".text.long")) {
    if (text.scrollHeight <= text.clientHeight + 40 || text.querySelector("mark")) openUp(text);
  }
  told.scrollTop = 0;
  if (remember) history.replaceState(null, "", "#" + encodeURIComponent(idOf(row)));
}
function goTo(id) {
  const n = data.rows.findIndex(row => idOf(row) === id);
  if (n < 0) return false;
  const line = rows.children[n];
  if (line.hidden) { at("find").value = ""; sift(); }
  choose(line);
  return true;
}

// ---- one model call

function callView(call, row) {
  const decision = call.decision;
  const about = [call.agent, call.model, call.dialect, seconds(row[2]),
    call.tokens.length ? `${plural(call.tokens[0], "token")} in, ${call.tokens[1]} out` : ""];
  return [
    make("h2", {}, `Model call ${call.id}`, make("small", {}, about.filter(Boolean).join(" · "))),
    ...(call.parent ? [insideOf(call.parent)] : []),
    ...call.findings.map(found => findingView(call, found)),
    make("h3", {}, "The model"),
    ...(call.error ? [make("div", {class: "card"}, make("div", {class: "text"},
      `failed: ${call.error.type}: ${call.error.message}`))] : decision ? decisionView(call) : [
      make("p", {class: "dim"}, "no reply was recorded")]),
    ...(call.lost ? [make("p", {class: "dim"}, "The request cannot be shown: " + call.lost)]
      : requestView(call)),
  ];
}
function insideOf(id) {
  return make("p", {class: "dim"}, "inside of ", button(`${id} ${tools.get(id)?.tool || ""}`,
    () => goTo(id)));
}
function decisionView(call) {
  const {tool_calls: made, text} = call.decision;
  const ran = data.tools.filter(tool => tool.asked_by === call.id);
  const card = make("div", {class: "card assistant"});
  if (text) card.append(make("div", {class: "text"}, text));
  for (const one of made) {
    const at = ran.findIndex(tool => tool.tool === one.name
      && tool.arguments === one.arguments);
    const tool = ran.splice(at < 0 ? ran.findIndex(other => other.tool === one.name) : at, 1)[0];
    card.append(make("div", {class: "call"}, make("code", {}, one.name + " "),
      ...(tool ? [button(`ran as ${tool.id}`, () => goTo(tool.id))] : []),
      textOf(one.arguments)));
  }
  if (!text && !made.length) card.append(make("p", {class: "dim"}, "nothing"));
  return [card];
}
function turnsOf(call) {  // numbers of the messages, of which each call holds what is new
  if (!call.turns) {
    call.turns = call.before == null ? call.add || []
      : turnsOf(data.calls[call.before]).slice(0, call.keep).concat(call.add);
  }
  return call.turns;
}
function requestView(call) {
  const turns = turnsOf(call), old = call.before == null ? 0 : call.keep;
  const names = new Map(turns.flatMap(number => data.messages[number].blocks)
    .filter(block => block.kind === "call").map(block => [block.id, block.name]));
  const cardOf = n => messageCard(data.messages[turns[n]], n + 1, names, marksOf(call, path =>
    ["messages", "input"].includes(path[0]) && path[1] === n && path.slice(2)));
  const cards = (from, to) => Array.from({length: to - from}, (_, n) => cardOf(from + n));
  const before = () => [...call.head.map(([key, number]) => messageCard(data.messages[number], "",
    names, marksOf(call, path => path[0] === key && path.slice(1)))), ...cards(0, old)];
  const marked = marksOf(call, path => path[0] !== "tools" && !(path[1] >= old)).length > 0;
  return [
    make("h3", {}, `The request: ${plural(turns.length, "message")}`
      + (old ? `, ${turns.length - old} of them new` : "")),
    ...(old ? [folded(`${plural(call.head.length + old, "text")} as in `
      + data.calls[call.before].id, before, marked)] : before()), ...cards(old, turns.length),
    ...toolsView(call),
    ...(Object.keys(call.rest).length ? [make("details", {}, make("summary", {}, "Parameters"),
      make("dl", {}, ...Object.entries(call.rest).flatMap(([key, value]) =>
        [make("dt", {}, key), make("dd", {}, value)])))] : []),
  ];
}
function toolsView(call) {
  const offered = data.toolsets[call.toolset];
  if (!offered.length) return [];
  const cards = () => offered.map((number, n) => messageCard({...data.messages[number], tool: true},
    "", new Map(), marksOf(call, path => path[0] === "tools" && path[1] === n && path.slice(2))));
  return [folded(plural(offered.length, "tool") + ": " + offered.map(number =>
    data.messages[number].role).join(", "), cards, marksOf(call, path => path[0] === "tools").length)];
}
function folded(words, content, open) {  // what is not looked at is not made
  const box = make("details", {}, make("summary", {}, words));
  const fill = () => { if (box.children.length === 1) box.append(...content()); };
  box.addEventListener("toggle", fill);
  if (open) fill();
  box.open = open;
  return box;
}
// What is marked in a part of the request; `inside` gives the rest of the way to it, or false.
function marksOf(call, inside) {
  const marks = [];
  for (const found of call.findings) {
    for (const [name, list] of [["cause", found.claims], ["required", found.required]]) {
      for (const [path, start, end] of list.flatMap(one => one.spans)) {
        const rest = inside(path);
        if (rest) marks.push({path: rest, start, end, name});
      }
    }
  }
  return marks;
}
function messageCard(message, number, names, marks) {
  const result = message.blocks.find(block => block.kind === "result");
  const role = result ? "tool" : message.role;
  const about = result && names.get(result.id) ? `result of ${names.get(result.id)}`
    : message.tool ? "tool" : "";
  return make("article", {class: "card " + (message.tool ? "tool" : role.replace(/\W/g, ""))},
    make("header", {}, make("b", {}, result ? "tool" : role), about,
      make("span", {}, number && `message ${number}`)),
    ...message.blocks.map(block => blockView(block, marks.flatMap(mark => placed(mark, block)))));
}
function placed(mark, block) {  // the mark, if it is in this block
  const path = block.path || [];
  if (path.some((step, n) => step !== mark.path[n])) return [];
  return mark.path.length === path.length ? [mark] : [{...mark, start: 0, end: Infinity}];
}
function blockView(block, marks) {
  if (block.kind === "call") {
    return make("div", {class: "call"}, make("code", {}, block.name), textOf(block.text, marks));
  }
  if (block.kind === "reasoning") {
    return make("details", {}, make("summary", {}, "reasoning"), textOf(block.text, marks));
  }
  return textOf(block.text, marks);
}

// ---- texts: JSON is laid out, and what is marked keeps its place in it

function textOf(text = "", marks = []) {
  let json = /^\s*[[{]/.test(text);
  if (json) try { JSON.parse(text); } catch { json = false; }
  const node = make("div", {class: "text" + (json ? " code" : "")});
  let open = null, name = "";
  const say = (words, from, kind) => {
    const mark = marks.find(one => one.start <= from && from < one.end);
    if ((mark ? mark.name : kind || "") !== name || !open) {
      name = mark ? mark.name : kind || "";
      open = mark ? make("mark", {class: mark.name}) : make("span", name ? {class: name} : {});
      node.append(open);
    }
    open.append(words);
  };
  if (json) layOut(text, say, marks);
  else for (const [from, to] of slices(0, text.length, marks)) say(text.slice(from, to), from);
  if (text.length > 1500 || text.split("\n").length > 16) {
    node.classList.add("long");
    const box = make("div", {}, node, button("Show all", () => { openUp(node); }));
    return box;
  }
  return node;
}
function openUp(text) {
  text.classList.remove("long");
  if (text.nextSibling) text.nextSibling.remove();
}
function slices(from, to, marks) {  // a span cut where marks begin and end
  const cuts = [...new Set(marks.flatMap(mark => [mark.start, mark.end]))]
    .filter(cut => from < cut && cut < to).sort((a, b) => a - b);
  return [from, ...cuts].map((cut, n) => [cut, [...cuts, to][n]]);
}
function layOut(text, say, marks) {
  const ESCAPED = /\\u[\da-fA-F]{4}|\\./g, depths = [], short = text.length < 80;
  const feed = from => say(short ? " " : "\n" + "  ".repeat(depths.length), from);
  let key = false;
  for (const token of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/gs)) {
    const [word] = token, from = token.index;
    if (word === "{" || word === "[") {
      say(word, from);
      depths.push(word);
      key = word === "{";
      if (!/^\s*[}\]]/.test(text.slice(from + 1, from + 50))) feed(from);
    } else if (word === "}" || word === "]") {
      const empty = /[{[]\s*$/.test(text.slice(Math.max(0, from - 50), from));
      depths.pop();
      if (!empty) feed(from);
      say(word, from);
      key = false;
    } else if (word === ",") {
      say(word, from);
      feed(from);
      key = depths[depths.length - 1] === "{";
    } else if (word === ":") {
      say(": ", from, "key");
      key = false;
    } else if (key) {
      say(JSON.parse(word), from, "key");
    } else if (word[0] !== '"') {
      say(word, from);
    } else {
      for (const [low, high] of slices(from + 1, from + word.length - 1, marks)) {
        say(text.slice(low, high).replace(ESCAPED, sign => JSON.parse(`"${sign}"`)), low);
      }
    }
  }
}

// ---- what was found

const asked = found => found.target.replace(/^tool:/, "");
const percent = rate => `${Math.round(100 * rate)} %`;
function findingView(call, found) {
  const [first, ...others] = found.claims;
  const box = make("section", {class: "finding" + (found.status === "CAUSE" ? "" : " none")});
  if (!first) {
    box.append(make("h3", {}, `Why ${asked(found)}?`), make("p", {}, {
      NONE: "Nothing in the request was found to cause it.",
      UNSTABLE: "The model decides so too rarely to say why.",
      BUDGET: "The budget ran out before there was an answer.",
      STOPPED: "It was stopped before there was an answer."}[found.status] || found.status));
    return box;
  }
  box.append(make("h3", {}, first.verdict === "CONFIRMED"
    ? `Why ${asked(found)}? Because of this:`
    : `Why ${asked(found)}? Maybe because of this (not confirmed):`), ...claimView(first));
  if (found.instead) {
    box.append(make("p", {}, make("span", {class: "dim"}, "Without it the model instead: "),
      oneLine(found.instead)));
  }
  if (others.length) {
    box.append(make("details", {open: ""}, make("summary", {}, plural(others.length, "more cause")),
      ...others.flatMap(claimView)));
  }
  for (const one of found.required) {
    box.append(make("p", {class: "dim"}, one.reason === "asks"
      ? "Also required (without it the model asks): " : "Also required (the model looks again): ",
      one.quotes.map(quote => quote[0]).join("; ")));
  }
  const places = first.spans.length ? [button("Show it in the request", () => {
    const mark = told.querySelector("mark.cause");
    mark.scrollIntoView({block: "center"});
  }), " "] : [];
  box.append(make("p", {class: "dim"}, ...places, `${plural(found.calls, "rerun")} of this call`));
  return box;
}
function claimView(claim) {
  return [
    ...claim.quotes.flatMap(([place, text]) => [make("blockquote", {}, text),
      make("p", {class: "place"}, place)]),
    ...(claim.more ? [make("p", {class: "place"}, `and ${plural(claim.more, "more part")}`)] : []),
    make("div", {class: "rates"}, ...rateRow("with it", claim.with),
      ...rateRow("without it", claim.without)),
  ];
}
function rateRow(words, {hits, runs, low, high}) {
  const rate = runs ? hits / runs : 0;
  const bar = make("i", {}), range = make("i", {class: "range"});
  bar.style.width = `${100 * rate}%`;
  range.style.left = `${100 * low}%`;
  range.style.width = `${100 * (high - low)}%`;
  return [make("span", {}, words), make("div", {class: "track", role: "img",
    "aria-label": `${percent(rate)}, 95% interval ${percent(low)} to ${percent(high)}`}, range, bar),
    make("span", {}, make("b", {}, `${hits} of ${runs}`),
      make("span", {class: "dim"}, ` (${percent(low)} to ${percent(high)})`))];
}

// ---- one tool call

function toolView(tool, row) {
  const about = [tool.agent, seconds(row[2])].filter(Boolean).join(" · ");
  return [
    make("h2", {}, tool.tool, make("small", {}, [`tool call ${tool.id}`, about].join(" "))),
    ...(tool.asked_by ? [make("p", {class: "dim"}, "asked for by ",
      button(tool.asked_by, () => goTo(tool.asked_by)))] : []),
    ...(tool.parent ? [insideOf(tool.parent)] : []),
    make("h3", {}, "Arguments"), make("div", {class: "card tool"}, textOf(tool.arguments)),
    make("h3", {}, tool.error ? "Failed" : "Result"),
    make("div", {class: "card"},
      ...(tool.error ? [make("div", {class: "text"},
        `${tool.error.type}: ${tool.error.message}`)] : []),
      ...(tool.output == null ? tool.error ? [] : [make("p", {class: "dim"}, "none was recorded")]
        : [textOf(tool.output)])),
  ];
}

// ---- start

function fill() {
  document.title = `${data.name}, a recorded run`;
  at("name").textContent = data.name || data.file;
  const bad = data.state !== "completed";
  at("summary").append(make("span", {class: "state" + (bad ? " bad" : "")}, data.state),
    [data.started, agents.length === 1 && agents[0], models.length === 1 && models[0], plural(data.calls.length, "model call"), plural(data.tools.length, "tool call")]
      .filter(Boolean).join(" · "));
  for (const note of data.notes) at("summary").append(make("div", {}, "note: " + note));
  rows.append(...data.rows.map(rowOf));
  for (const call of data.calls) {
    for (const found of call.findings) {
      at("found").append(button(`Why ${asked(found)}? (${call.id})`, () => goTo(call.id)));
    }
  }
  if (!data.rows.length) told.append(make("p", {class: "dim"}, "Nothing was recorded."));
}
function move(steps) {
  const lines = [...rows.children].filter(line => !line.hidden);
  const now = lines.indexOf(chosen());
  const next = lines[Math.max(0, Math.min(lines.length - 1, now + steps))];
  if (next && next !== chosen()) choose(next);
}
function listen() {
  at("find").addEventListener("input", sift);
  at("find").addEventListener("keydown", event => {
    if (event.key === "ArrowDown" || event.key === "Enter") { rows.focus(); move(0); }
  });
  rows.addEventListener("click", event => {
    const line = event.target.closest("li");
    if (line) choose(line);
  });
  rows.addEventListener("keydown", event => {
    const steps = {ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -Infinity,
      End: Infinity}[event.key];
    if (steps) move(steps);
    else if (event.key === "Enter") told.focus();
    else return;
    event.preventDefault();
  });
  told.addEventListener("keydown", event => {
    if (event.key === "Escape") rows.focus();
  });
  window.addEventListener("hashchange", follow);
}
function follow() {
  let id = location.hash.slice(1);
  try { id = decodeURIComponent(id); } catch { /* then no row is called so */ }
  return goTo(id);
}
fill();
listen();
if (!follow() && data.rows.length) {
  const why = data.calls.find(call => call.findings.length);
  const n = why ? data.rows.findIndex(row => idOf(row) === why.id) : 0;
  choose(rows.children[n], false);
}
