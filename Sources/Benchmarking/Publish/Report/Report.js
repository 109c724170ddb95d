// What makes the report a page to work with: choosing mechanisms, folding cells. Without it everything
// is there to read.
'use strict';
(() => {
  const rules = document.head.appendChild(document.createElement('style'));
  const chips = [...document.querySelectorAll('.chips button[data-m]')];
  const hidden = new Set();
  let lit = null;
  const draw = () => {
    let css = '';
    for (const chip of chips) {
      const name = chip.dataset.m;
      chip.setAttribute('aria-pressed', String(!hidden.has(name)));
      // In a narrow window rows are blocks, by a rule that would win.
      if (hidden.has(name)) css += `tr[data-m="${name}"],svg [data-m="${name}"]{display:none!important}`;
      else if (lit && lit !== name) css += `tr[data-m="${name}"],svg [data-m="${name}"]{opacity:.25}`;
    }
    rules.textContent = css;
  };
  for (const chip of chips) {
    chip.addEventListener('click', () => {
      const name = chip.dataset.m;
      hidden.has(name) ? hidden.delete(name) : hidden.add(name);
      draw();
    });
    const light = name => () => { lit = name; draw(); };
    chip.addEventListener('pointerenter', light(chip.dataset.m));
    chip.addEventListener('pointerleave', light(null));
    chip.addEventListener('focus', light(chip.dataset.m));
    chip.addEventListener('blur', light(null));
  }
  const cells = [...document.querySelectorAll('details.cell')];
  const fold = open => () => { for (const cell of cells) cell.open = open; };
  document.getElementById('unfold').addEventListener('click', fold(true));
  document.getElementById('fold').addEventListener('click', fold(false));
  // A link to a cell opens it; paper has everything open.
  const follow = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const cell = target && target.closest('details');
    if (cell) { cell.open = true; target.scrollIntoView(); }
  };
  addEventListener('hashchange', follow);
  addEventListener('beforeprint', fold(true));
  document.documentElement.classList.add('works');
  draw();
  follow();
})();
