// As much of a browser's page as the script that sorts tables uses; prints what clicks gave.
class Element {
  constructor(parts = {}) { this.attributes = {}; this.childNodes = []; this.listeners = []; this.parent = null; Object.assign(this, parts); }
  append(...nodes) {
    for (const node of nodes) {
      if (node.parent) node.parent.childNodes = node.parent.childNodes.filter(other => other !== node);
      node.parent = this;
      this.childNodes = [...this.childNodes, node];
    }
  }
  get textContent() { return this.text ?? this.childNodes.map(node => node.textContent).join(""); }
  get rows() { return this.childNodes; }
  get cells() { return this.childNodes; }
  getAttribute(name) { return this.attributes[name] ?? null; }
  setAttribute(name, value) { this.attributes[name] = value; }
  removeAttribute(name) { delete this.attributes[name]; }
  addEventListener(kind, listener) { if (kind === "click") this.listeners.push(listener); }
  click() { this.listeners.forEach(listener => listener()); }
}
const part = rows => {
  const whole = new Element();
  for (const texts of rows) {
    const row = new Element();
    for (const text of texts) {
      const cell = new Element();
      cell.append(new Element({ text }));
      row.append(cell);
    }
    whole.append(row);
  }
  return whole;
};
const { script, heads, rows, clicks } = JSON.parse(require("fs").readFileSync(0, "utf8"));
const table = { tHead: part(heads), tBodies: [part(rows)] };
const document = { querySelectorAll: () => [table], createElement: () => new Element() };
new Function("document", script)(document);
const headers = table.tHead.rows[table.tHead.rows.length - 1].cells;
const shown = () => table.tBodies[0].rows.map(row => row.cells.map(cell => cell.textContent));
const buttons = headers.map(header => header.childNodes.filter(node => node.type === "button"));
const after = clicks.map(place => {
  buttons[place].forEach(button => button.click());
  return { rows: shown(), sorts: headers.map(header => header.getAttribute("aria-sort")) };
});
console.log(JSON.stringify({ buttons: buttons.map(its => its.length), names: headers.map(header => header.textContent), after }));
