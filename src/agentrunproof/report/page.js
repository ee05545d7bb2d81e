const table = document.querySelector("table");
const NAMES = {PASS: "PASS", FAIL: "FAIL", KNOWN: "FAIL, known", UNTESTABLE: "UNTESTABLE",
  ERROR: "ERROR", edge: "boundary"};
const KINDS = ["introduced-in", "regressed-in", "fixed-in"];
const releases = unique(data.columns.map(column => column.sdk));
const lanes = unique(data.columns.map(column => column.lane));
let shown = [];  // numbers of the columns that are drawn
let pressed = new Set();  // what a row must have one of: keys of NAMES

function unique(values) { return [...new Set(values)]; }

function link(reference, tabindex = 0) {
  const href = data.links[reference];
  if (!href) return make("span", {}, reference);
  return make("a", {href, tabindex, target: "_blank", rel: "noopener noreferrer"},
    reference.replace(/^.*(?=#)/, ""));
}
function sign(name) {
  return make("span", {class: "sign " + name, "aria-hidden": "true"}, data.signs[name] || "");
}
const stateOf = (r, n) => data.states[data.rows[r].cells[n]];
const edgesAt = (r, n) => data.rows[r].edges.filter(edge => edge.at === n);
const minorOf = n => data.columns[n].sdk.split(".").slice(0, 2).join(".");
const nameOf = n => lanes.length > 1 ? data.columns[n].key : data.columns[n].sdk;

// Addresses: #scenario@release, #scenario, #@release.
function address(r, n) {
  return "#" + (r === null ? "" : data.rows[r].id) + (n === null ? "" : "@" + nameOf(n));
}
function placeOf(hash) {
  const [id, release] = hash.slice(1).split("@");
  const r = data.rows.findIndex(row => row.id === id);
  const n = data.columns.findIndex(column => [column.key, column.sdk].includes(release));
  return [r < 0 ? null : r, n < 0 ? null : n];
}

// ---- the grid

function draw() {
  const ends = [at("from").selectedIndex, at("to").selectedIndex].sort((a, b) => a - b);
  const wanted = new Set(releases.slice(ends[0], ends[1] + 1));
  shown = [...data.columns.keys()].filter(n => wanted.has(data.columns[n].sdk)
    && data.columns[n].lane === at("lane").value);
  document.documentElement.style.setProperty("--n", shown.length);
  const bodies = new Map();
  data.rows.forEach((row, r) => {
    if (!bodies.has(row.area)) bodies.set(row.area, make("tbody", {role: "rowgroup"},
      areaLine(row.area)));
    bodies.get(row.area).append(rowLine(row, r));
  });
  table.replaceChildren(make("thead", {role: "rowgroup"}, headLine()), ...bodies.values());
  at("panel").hidden = true;
  sift();
}
const minorClass = x => x && minorOf(shown[x]) === minorOf(shown[x - 1]) ? "" : " minor";
function headLine() {
  return make("tr", {role: "row"}, make("td", {role: "gridcell"}),
    ...shown.map((n, x) => make("th", {role: "columnheader", tabindex: -1, class: minorClass(x)},
      make("span", {}, data.columns[n].sdk))));
}
function areaLine(area) {
  return make("tr", {role: "row", class: "area"},
    make("th", {role: "rowheader"}, make("span", {}, area + " ", make("small", {}))));
}
function rowLine(row, r) {
  const name = make("th", {role: "rowheader", tabindex: -1}, make("span",
    {class: "name", title: `${row.id}: ${row.title}`}, row.command ? row.title : row.id));
  const issues = [...row.upstream, ...row.edges.flatMap(edge => edge.upstream)];
  if (issues.length) name.append(link(issues[0], -1));
  const edges = new Set(row.edges.map(edge => edge.at));
  return make("tr", {role: "row", "data-row": r}, name, ...shown.map((n, x) => {
    const verdict = stateOf(r, n).verdict;
    return make("td", {role: "gridcell", tabindex: -1, "aria-label": cellName(r, n),
      class: verdict + minorClass(x) + (edges.has(n) ? " edge" : "")}, data.signs[verdict]);
  }));
}
function cellName(r, n) {
  const state = stateOf(r, n);
  return [`${data.rows[r].id} on ${nameOf(n)}: ${NAMES[state.verdict]}`,
    ...state.checks.map(check => `${check.check} ${check.code}`),
    ...edgesAt(r, n).map(edge => `${edge.kind} ${data.columns[n].sdk}: ${edge.check} ${edge.code}`),
  ].join("; ");
}

// ---- filters

function sift() {
  const area = at("area").value;
  const words = at("find").value.toLowerCase().split(/\s+/).filter(Boolean);
  const counts = {};
  let rows = 0;
  for (const body of table.tBodies) {
    let here = 0;
    for (const line of body.querySelectorAll("[data-row]")) {
      const row = data.rows[line.dataset.row];
      const fits = (!area || row.area === area) && words.every(word => textOf(row).includes(word));
      const found = fits ? countsOf(row) : {};
      for (const name in found) counts[name] = (counts[name] || 0) + found[name];
      line.hidden = !fits || (pressed.size > 0 && ![...pressed].some(name => found[name]));
      here += !line.hidden;
    }
    body.hidden = !here;
    body.querySelector("small").textContent = here;
    rows += here;
  }
  for (const chip of at("verdicts").children) {
    const count = counts[chip.value] || 0;
    chip.querySelector("b").textContent = count.toLocaleString("en");
    chip.disabled = !count && !pressed.has(chip.value);
    chip.setAttribute("aria-pressed", pressed.has(chip.value));
  }
  const less = rows < data.rows.length ? `, ${rows} shown` : "";
  at("scope").textContent = data.scope + less;
  table.hidden = !rows || !shown.length;
  at("none").hidden = !table.hidden;
  const first = table.querySelector("tr:not([hidden]) > td[tabindex]");
  if (first && !table.querySelector("tr:not([hidden]) > [tabindex='0']")) first.tabIndex = 0;
}
function textOf(row) {
  const codesOf = state => data.states[state].checks.map(check => check.code);
  row.text ||= [row.id, row.title, ...row.upstream, ...row.checks,
    ...unique(row.cells).flatMap(codesOf)].join(" ").toLowerCase();
  return row.text;
}
function countsOf(row) {
  const counts = {edge: row.edges.filter(edge => shown.includes(edge.at)).length};
  for (const n of shown) {
    const verdict = data.states[row.cells[n]].verdict;
    counts[verdict] = (counts[verdict] || 0) + 1;
  }
  return counts;
}
function clear() {
  at("area").value = at("find").value = "";
  at("from").selectedIndex = 0;
  at("to").selectedIndex = releases.length - 1;
  pressed.clear();
  draw();
}

// ---- choosing a cell, a plan or a release

function choose(cell) {
  const r = cell.parentNode.dataset.row === undefined ? null : Number(cell.parentNode.dataset.row);
  const n = cell.cellIndex ? shown[cell.cellIndex - 1] : null;
  for (const old of table.querySelectorAll("[aria-selected]")) old.removeAttribute("aria-selected");
  cell.setAttribute("aria-selected", "true");
  at("told").replaceChildren(
    ...(r === null ? releaseWords(n) : n === null ? planWords(r) : cellWords(r, n)));
  at("panel").hidden = false;
  at("panel").scrollTop = 0;
  history.replaceState(null, "", address(r, n));
  cell.scrollIntoView({block: "nearest", inline: "nearest"});
}
function close() {
  at("panel").hidden = true;
  history.replaceState(null, "", location.pathname + location.search);
  const cell = table.querySelector("[aria-selected]");
  if (!cell) return;
  cell.removeAttribute("aria-selected");
  cell.focus();
}
function follow() {
  const [r, n] = placeOf(location.hash);
  if (r === null && n === null) return;
  if (n !== null) at("lane").value = data.columns[n].lane;
  const lineOf = () => r === null ? table.tHead.rows[0] : table.querySelector(`[data-row="${r}"]`);
  if (lineOf().hidden || (n !== null && !shown.includes(n))) clear();
  const cell = lineOf().cells[n === null ? 0 : shown.indexOf(n) + 1];
  cell.focus({preventScroll: true});
  choose(cell);
}
function neighbour(cell, key) {
  const lines = [...table.rows].filter(line => !line.closest("[hidden]") && !line.matches(".area"));
  const y = lines.indexOf(cell.parentNode), x = cell.cellIndex;
  const [toY, toX] = {ArrowLeft: [y, x - 1], ArrowRight: [y, x + 1], ArrowUp: [y - 1, x],
    ArrowDown: [y + 1, x], Home: [y, 0], End: [y, shown.length]}[key] || [];
  const next = lines[toY] && lines[toY].cells[toX];
  return next && next.hasAttribute("tabindex") ? next : null;
}

// ---- what the panel says

function cellWords(r, n) {
  const row = data.rows[r], column = data.columns[n], state = stateOf(r, n);
  const passed = state.error || state.lacks.length ? [] : row.checks.filter(name =>
    !state.absent.includes(name) && !state.checks.some(check => check.check === name));
  return [
    make("h2", {}, sign(state.verdict), NAMES[state.verdict],
      make("a", {href: address(r, null)}, row.id), "on",
      make("a", {href: address(null, n)}, column.sdk), make("small", {}, column.lane)),
    make("div", {class: "parts"},
      make("section", {}, ...state.checks.map(checkWords),
        ...list("This release lacks", state.lacks.map(name =>
          make("li", {}, `${name}: ${data.capabilities[name]}`))),
        ...(state.error ? [make("h3", {}, "No certificate"), make("p", {}, state.error)] : []),
        ...(passed.length ? [make("h3", {}, "Passed"),
          make("p", {class: "dim"}, passed.join(", "))] : [])),
      make("section", {}, make("p", {}, row.title),
        ...list("What changed here", edgeItems(r, edgesAt(r, n))),
        ...upstreamWords(row), ...expectations(row)),
      make("section", {}, make("h3", {}, "See it again"), ...reproduction(row, column),
        ...evidence(row, n))),
  ];
}
function checkWords(check) {
  const contract = data.checks[check.check] || {codes: {}};
  const words = make("dl", {});
  const add = (word, ...said) => words.append(make("dt", {}, word), make("dd", {}, ...said));
  if (contract.promise) add("expected", contract.promise);
  if (check.seen) {
    add("observed", make("span", {class: "dim"}, check.where ? check.where + ": " : ""),
      check.seen + (check.also ? ` (and ${check.also} more)` : ""));
  }
  if (contract.codes[check.code]) add("meaning", contract.codes[check.code]);
  if (check.known) {
    add("known", ...(check.known[0] ? [link(check.known[0]), " "] : []), check.known[1]);
  }
  return make("div", {}, make("h3", {}, check.check + " ", make("code", {}, check.code)), words);
}
function reproduction(row, column) {
  const line = [row.how[0], "--sdk", column.sdk, "--python", column.python,
    ...column.pins.map(pin => "--with " + pin), row.how[1]].join(" ").trim();
  const copy = make("button", {type: "button"}, "Copy");
  copy.addEventListener("click", async () => {
    await navigator.clipboard.writeText(line);
    copy.textContent = "Copied";
  });
  return [make("pre", {tabindex: 0, "aria-label": "command"}, line),
    ...(navigator.clipboard ? [make("p", {}, copy)] : [])];
}
function evidence(row, n) {  // files that lie beside the page
  const folder = `columns/${encodeURIComponent(data.columns[n].key)}/`;
  const [file, name] = row.ids[n] ? [row.id + ".json", "sha256:" + row.ids[n]]
    : row.command ? ["output.log", "output.log"] : [];
  if (!file) return [];
  return [make("p", {class: "dim"}, row.command ? "its words " : "certificate ",
    make("a", {href: folder + file}, name))];
}
function expectations(row) {
  const phases = Object.entries(row.expected);
  if (!phases.length) return [];
  return [make("details", {}, make("summary", {}, "What the plan expects"), make("dl", {},
    ...phases.flatMap(([phase, words]) => [make("dt", {}, phase), make("dd", {}, words)])))];
}
function upstreamWords(row) {
  const links = row.upstream.flatMap(reference => [" ", link(reference)]);
  return links.length ? [make("p", {}, "Upstream:", ...links)] : [];
}
function list(title, items) {
  return items.length ? [make("h3", {}, title), make("ul", {}, ...items)] : [];
}
// Checks that change at one place are told together.
function edgeItems(r, edges, name) {
  const groups = new Map();
  for (const edge of edges) {
    const key = [edge.kind, edge.at, edge.previous, edge.upstream].join();
    groups.set(key, [...(groups.get(key) || []), edge]);
  }
  return [...groups.values()].map(([edge, ...more]) => make("li", {}, `${edge.kind} `,
    make("a", {href: address(r, edge.at)}, name || nameOf(edge.at)), ` (after ${edge.previous}): `,
    [edge, ...more].map(one => `${one.check} ${one.code}`).join(", "),
    ...edge.upstream.flatMap(reference => [" ", link(reference)])));
}
function planWords(r) {
  const row = data.rows[r];
  const edges = row.edges.filter(edge => shown.includes(edge.at)).sort((a, b) => a.at - b.at);
  const words = [row.contract, row.why].filter(Boolean);
  return [make("h2", {}, row.id, make("small", {}, row.area)), make("div", {class: "parts"},
    make("section", {}, make("p", {}, row.title),
      ...words.map(text => make("p", {class: "dim"}, text)),
      ...upstreamWords(row), ...expectations(row)),
    make("section", {}, ...(edges.length ? list("Boundaries", edgeItems(r, edges))
      : [make("p", {class: "dim"}, "No check changes between the releases shown.")])))];
}
function releaseWords(n) {
  const column = data.columns[n], counts = {};
  for (const row of data.rows) {
    const verdict = data.states[row.cells[n]].verdict;
    counts[verdict] = (counts[verdict] || 0) + 1;
  }
  const changed = KINDS.flatMap(kind => {
    const items = data.rows.flatMap((row, r) => edgeItems(r,
      edgesAt(r, n).filter(edge => edge.kind === kind), row.id));
    return items.length ? [make("section", {}, ...list(`${kind}: ${items.length}`, items))] : [];
  });
  return [make("h2", {}, `openai-agents ${column.sdk}`, make("small", {}, column.lane)),
    make("p", {}, Object.keys(NAMES).filter(name => counts[name])
      .map(name => `${counts[name]} ${NAMES[name]}`).join(", ")),
    make("div", {class: "parts"}, ...changed)];
}

// ---- start

function fill() {
  const narrow = matchMedia("(max-width: 700px)");
  const fold = () => { at("filters").open = !narrow.matches; };
  narrow.addEventListener("change", fold);
  fold();
  for (const [id, values] of [["area", unique(data.rows.map(row => row.area))],
    ["from", releases], ["to", releases], ["lane", lanes]]) {
    at(id).append(...values.map(value => make("option", {value}, value)));
  }
  at("to").selectedIndex = releases.length - 1;
  at("lanes").hidden = lanes.length < 2;
  const full = data.rows.length && data.columns.length;
  at("why").textContent = full ? "No plan fits these filters." : "This matrix is empty.";
  at("record").textContent = data.id;
  at("version").textContent = data.version;
  for (const [value, name] of Object.entries(NAMES)) {
    at("verdicts").append(
      make("button", {type: "button", value}, sign(value), name, make("b", {})));
  }
}
function listen() {
  for (const id of ["from", "to", "lane"]) at(id).addEventListener("change", draw);
  for (const id of ["area", "find"]) at(id).addEventListener("input", sift);
  for (const id of ["clear", "again"]) at(id).addEventListener("click", clear);
  at("close").addEventListener("click", close);
  at("verdicts").addEventListener("click", event => {
    const chip = event.target.closest("button");
    if (!chip) return;
    if (!pressed.delete(chip.value)) pressed.add(chip.value);
    sift();
  });
  table.addEventListener("click", event => {
    const cell = event.target.closest("[tabindex]");
    if (cell && !cell.matches("a")) choose(cell);
  });
  table.addEventListener("focusin", event => {  // one tab stop; the panel goes along
    if (event.target.matches("a")) return;
    for (const old of table.querySelectorAll("[tabindex='0']")) old.tabIndex = -1;
    event.target.tabIndex = 0;
    if (!at("panel").hidden) choose(event.target);
  });
  table.addEventListener("pointerover", event => {
    const cell = event.target.closest("td[aria-label]");
    if (cell) cell.title = cell.getAttribute("aria-label");
  });
  table.addEventListener("keydown", event => {
    const next = neighbour(event.target, event.key);
    if (next) next.focus();
    else if (event.key === "Enter" || event.key === " ") choose(event.target);
    else return;
    event.preventDefault();
  });
  document.addEventListener("keydown", event => {
    if (event.key === "Escape" && !at("panel").hidden) close();
  });
  window.addEventListener("hashchange", follow);
}
fill();
listen();
draw();
document.querySelector("main").scrollLeft = table.scrollWidth;  // the newest releases first
follow();
