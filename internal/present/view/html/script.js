"use strict";
// The filters of the actions, and the highlight of dependencies in the picture. Without this
// script the page shows everything.
(() => {
  const actions = [...document.querySelectorAll("details.action")];
  const blocks = [...document.querySelectorAll("section.block")];
  const form = document.getElementById("filter");

  // The text of an action is read when a filter needs it.
  const texts = new Map();
  const text = (action) => {
    if (!texts.has(action)) {
      texts.set(action, action.textContent.toLowerCase());
    }
    return texts.get(action);
  };

  const filter = () => {
    const { elements } = form;
    const words = elements.text.value.toLowerCase().split(/\s+/).filter(Boolean);
    const wanted = (action, block) =>
      (!elements.block.value || block.dataset.block === elements.block.value) &&
      (!elements.todo.value || action.dataset.todo === elements.todo.value) &&
      (!elements.danger.checked || "danger" in action.dataset) &&
      words.every((word) => text(action).includes(word));
    let found = 0;
    for (const block of blocks) {
      let some = false;
      for (const action of block.querySelectorAll("details.action")) {
        action.hidden = !wanted(action, block);
        if (!action.hidden) {
          some = true;
          found++;
        }
      }
      block.hidden = !some;
    }
    elements.found.value = found === actions.length ? `${found} actions` : `${found} of ${actions.length} actions`;
  };

  const fold = (open) => {
    for (const action of actions) {
      action.open = open && !action.hidden;
    }
  };

  // A link may lead to an action that is hidden or folded.
  const reveal = () => {
    const target = location.hash && document.getElementById(location.hash.slice(1));
    if (!target || !form) {
      return;
    }
    if (target.hidden || target.closest("[hidden]")) {
      form.reset();
      filter();
    }
    if (target.matches("details.action")) {
      target.open = true;
    }
    target.scrollIntoView();
  };

  if (form) {
    form.hidden = false;
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("input", filter);
    form.elements.open.addEventListener("click", () => fold(true));
    form.elements.close.addEventListener("click", () => fold(false));
    filter();
    addEventListener("hashchange", reveal);
    reveal();
  }

  // The arrows of the service below the pointer, or with the focus, are highlighted.
  for (const picture of document.querySelectorAll("svg.picture")) {
    const mark = (event, on) => {
      const box = event.target.closest("[data-box]");
      if (box) {
        for (const edge of picture.querySelectorAll(`[data-from="${box.dataset.box}"], [data-to="${box.dataset.box}"]`)) {
          edge.classList.toggle("on", on);
        }
      }
    };
    for (const [name, on] of [["pointerover", true], ["focusin", true], ["pointerout", false], ["focusout", false]]) {
      picture.addEventListener(name, (event) => mark(event, on));
    }
  }

  // What is folded is printed too.
  let folded = [];
  addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("details:not([open])")];
    folded.forEach((each) => (each.open = true));
  });
  addEventListener("afterprint", () => folded.forEach((each) => (each.open = false)));
})();
