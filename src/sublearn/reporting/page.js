"use strict";
(() => {
  const all = (where, what) => Array.from(where.querySelectorAll(what));
  const by = (id) => document.getElementById(id);
  for (const box of all(document, ".scroll")) { // one that need not be scrolled is no stop for the keyboard
    if (box.scrollWidth <= box.clientWidth) box.removeAttribute("tabindex");
  }
  const trees = all(document, "[role=tree]");
  if (!trees.length) return;
  const ways = JSON.parse(by("ways").textContent);
  const whichTree = by("which-tree");
  const whichRow = by("which-row");

  const group = (item) => item.querySelector(":scope > [role=group]");
  const isOpen = (item) => item.getAttribute("aria-expanded") === "true";
  const items = (tree) => all(tree, "[role=treeitem]");
  const seen = (tree) => items(tree).filter((item) => !item.parentElement.closest("[hidden][role=group]"));
  const above = (item) => item.parentElement.closest("[role=treeitem]");

  function setOpen(item, open) {
    const below = group(item);
    if (!below) return;
    item.setAttribute("aria-expanded", String(open));
    below.hidden = !open;
    const current = below.querySelector("[tabindex='0']");
    if (!open && current) makeCurrent(item);
  }
  function makeCurrent(item) {
    for (const other of all(item.closest("[role=tree]"), "[tabindex='0']")) other.tabIndex = -1;
    item.tabIndex = 0;
  }
  function goTo(item) {
    if (!item) return;
    makeCurrent(item);
    item.focus();
  }
  function showTree(number) {
    trees.forEach((tree, i) => { by("panel-" + i).hidden = i !== number; });
    if (whichTree) whichTree.value = String(number);
  }
  function shown() {
    return trees.filter((tree) => !tree.closest(".panel").hidden);
  }
  function showWay(row) {
    for (const item of all(document, ".lit")) {
      item.classList.remove("lit");
      item.removeAttribute("aria-current");
    }
    const words = document.querySelector(".way-words");
    const way = ways[row];
    words.hidden = !way;
    words.textContent = way ? way.words : "";
    if (!way) return;
    way.ways.forEach((nodes, panel) => {
      let last = null;
      for (const node of nodes) {
        const item = by("t" + panel + "-" + node);
        if (!item) break;
        item.classList.add("lit");
        item.setAttribute("aria-current", "true");
        if (last) setOpen(last, true);
        last = item;
      }
      if (last) makeCurrent(last);
    });
  }
  function onKey(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const item = event.target.closest("[role=treeitem]");
    const list = seen(event.currentTarget);
    const place = list.indexOf(item);
    const below = group(item);
    if (event.key === "ArrowDown") goTo(list[place + 1]);
    else if (event.key === "ArrowUp") goTo(list[place - 1]);
    else if (event.key === "Home") goTo(list[0]);
    else if (event.key === "End") goTo(list[list.length - 1]);
    else if (event.key === "ArrowRight") {
      if (below && !isOpen(item)) setOpen(item, true);
      else if (below) goTo(below.firstElementChild);
    } else if (event.key === "ArrowLeft") {
      if (below && isOpen(item)) setOpen(item, false);
      else goTo(above(item));
    } else if (event.key === "Enter" || event.key === " ") setOpen(item, !isOpen(item));
    else return;
    event.preventDefault();
  }

  for (const tree of trees) {
    for (const item of items(tree)) {
      setOpen(item, Number(item.getAttribute("aria-level")) <= Number(tree.dataset.opened));
    }
    tree.addEventListener("keydown", onKey);
    tree.addEventListener("click", (event) => {
      const node = event.target.closest(".node");
      if (!node) return;
      makeCurrent(node.parentElement);
      node.parentElement.focus({ preventScroll: true });
      setOpen(node.parentElement, !isOpen(node.parentElement));
    });
  }
  if (whichTree) whichTree.addEventListener("change", () => showTree(Number(whichTree.value)));
  whichRow.addEventListener("change", () => showWay(whichRow.value));
  by("open-all").addEventListener("click", () => shown().forEach((tree) => items(tree).forEach((item) => setOpen(item, true))));
  by("close-all").addEventListener("click", () => shown().forEach((tree) => items(tree).forEach((item) => setOpen(item, false))));
  document.addEventListener("click", (event) => {
    const button = event.target.closest("button[data-row]");
    if (!button) return;
    whichRow.value = button.dataset.row;
    showWay(button.dataset.row);
    by("trees").scrollIntoView();
    whichRow.focus({ preventScroll: true });
  });
  showTree(0);
})();
