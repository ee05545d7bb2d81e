"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const at = id => document.getElementById(id);

// Elements are made of text and attributes: no value of a record is ever read as HTML.
function make(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}
