// What makes the chart of the page move.
'use strict';
(() => {
  const data = JSON.parse(document.getElementById('data').textContent);
  const element = id => document.getElementById(id);
  const scroller = element('scroller'), chart = element('chart'), counts = element('counts');
  const spacer = element('spacer'), detail = element('detail');
  const tasks = data.tasks, end = Math.max(1, data.end);
  const left = 14 + 8 * Math.max(...[0].concat(tasks.slice(0, 1).map(task => task.n.length)));
  const right = 14, axisHeight = 24, readable = 18;
  const tip = element('tip'), cue = element('cue');
  let from = 0, to = end, rowHeight = readable, chosen = -1, fitsAll = false;
  // The tasks that search and filter leave.
  let rows = tasks;

  const units = [['s', 1e9], ['ms', 1e6], ['us', 1e3], ['ns', 1]];
  const unitFor = span => units.find(unit => span >= unit[1]) || units[3];

  // The state of each colour is read anew, because the reader may switch to dark while looking.
  let colour = {};
  function readColours() {
    const style = getComputedStyle(document.documentElement);
    for (const name of ['paper', 'ink', 'faint-ink', 'grid', 'waiting', 'running', 'blocked',
      'blocked-ground', 'suspended', 'failed', 'cancelled']) {
      colour[name] = style.getPropertyValue('--' + name).trim();
    }
  }

  function prepare(canvas, width, height) {
    const ratio = window.devicePixelRatio || 1;
    const pixelWidth = Math.round(width * ratio), pixelHeight = Math.round(height * ratio);
    if (canvas.width !== pixelWidth || canvas.height !== pixelHeight) {
      canvas.width = pixelWidth;
      canvas.height = pixelHeight;
      canvas.style.width = width + 'px';
      canvas.style.height = height + 'px';
    }
    const pen = canvas.getContext('2d');
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    return pen;
  }

  const size = () => ({ width: scroller.clientWidth, height: scroller.clientHeight });
  const plotWidth = () => Math.max(1, size().width - left - right);
  const x = time => left + (time - from) / (to - from) * plotWidth();
  const time = x => from + (x - left) / plotWidth() * (to - from);

  function hatch(pen) {
    const tile = document.createElement('canvas');
    tile.width = tile.height = 6;
    const ink = tile.getContext('2d');
    ink.fillStyle = colour['blocked-ground'];
    ink.fillRect(0, 0, 6, 6);
    ink.strokeStyle = colour.blocked;
    ink.lineWidth = 2;
    ink.beginPath();
    for (const shift of [-6, 0, 6]) { ink.moveTo(shift, 6); ink.lineTo(shift + 6, 0); }
    ink.stroke();
    return pen.createPattern(tile, 'repeat');
  }

  function ticks() {
    const least = (to - from) / Math.max(2, Math.floor(plotWidth() / 90));
    const power = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
    const step = [1, 2, 5, 10].map(factor => factor * power).find(step => step >= least);
    const found = [];
    for (let at = Math.ceil(from / step) * step; at <= to; at += step) found.push(at);
    return { found, step };
  }

  function drawAxis(pen, height) {
    const { found, step } = ticks();
    const [name, length] = unitFor(to);
    const decimals = Math.max(0, Math.ceil(-Math.log10(step / length) - 1e-9));
    pen.font = '11px ui-monospace, monospace';
    pen.textBaseline = 'middle';
    found.forEach((at, index) => {
      const place = x(at);
      pen.fillStyle = colour.grid;
      pen.fillRect(place, axisHeight, 1, height - axisHeight);
      pen.fillStyle = colour['faint-ink'];
      const label = (at / length).toFixed(decimals) + (index === found.length - 1 ? ' ' + name : '');
      const width = pen.measureText(label).width;
      pen.fillText(label, Math.min(place - (index ? width / 2 : 0), size().width - width - 2),
        axisHeight / 2);
    });
  }

  function drawEnd(pen, task, middle) {
    if (task.t === undefined || task.t < from || task.t > to) return;
    // In rows as thin as hairs, only the ends that went wrong stand out.
    if (rowHeight < 3 && task.e === 'finished') return;
    const at = x(task.t), reach = Math.min(5, Math.max(1.5, rowHeight * 0.3));
    pen.lineWidth = 1.5;
    pen.beginPath();
    if (task.e === 'finished') {
      pen.strokeStyle = colour.ink;
      pen.moveTo(at, middle - reach);
      pen.lineTo(at, middle + reach);
      pen.stroke();
    } else if (task.e === 'failed') {
      pen.fillStyle = colour.failed;
      pen.moveTo(at, middle - reach);
      pen.lineTo(at + reach, middle);
      pen.lineTo(at, middle + reach);
      pen.lineTo(at - reach, middle);
      pen.fill();
    } else {
      pen.strokeStyle = colour.cancelled;
      pen.lineWidth = 2;
      pen.moveTo(at - reach, middle - reach);
      pen.lineTo(at + reach, middle + reach);
      pen.moveTo(at - reach, middle + reach);
      pen.lineTo(at + reach, middle - reach);
      pen.stroke();
    }
  }

  function drawRow(pen, task, top, blocked) {
    const middle = top + rowHeight / 2, spans = task.s;
    for (let i = 0; i < spans.length; i += 3) {
      const phase = spans[i], start = spans[i + 1], stop = spans[i + 2];
      if (stop < from || start > to) continue;
      const a = Math.max(left, x(start)), b = Math.min(size().width - right, x(stop));
      const width = Math.max(0.75, b - a);
      const share = [0.16, 0.7, 0.7, 0.4, 0.7][phase];
      const tall = Math.max(1, rowHeight * share);
      if (phase === 3) {
        pen.strokeStyle = colour.suspended;
        pen.lineWidth = 1;
        pen.setLineDash([4, 2]);
        pen.strokeRect(a + 0.5, middle - tall / 2, Math.max(0, width - 1), tall);
        pen.setLineDash([]);
      } else if (phase === 4) {
        pen.strokeStyle = colour.running;
        pen.lineWidth = 1;
        pen.strokeRect(a + 0.5, middle - tall / 2, Math.max(0, width - 1), tall);
      } else {
        pen.fillStyle = [colour.waiting, blocked, colour.running][phase];
        pen.fillRect(a, middle - tall / 2, width, tall);
      }
    }
    drawEnd(pen, task, middle);
  }

  function draw() {
    const { width, height } = size();
    if (fitsAll) rowHeight = Math.min(readable, (height - axisHeight - 4) / Math.max(1, rows.length));
    spacer.style.height = Math.max(0, axisHeight + rows.length * rowHeight - height) + 'px';
    const pen = prepare(chart, width, height);
    drawAxis(pen, height);
    const blocked = hatch(pen), scrolled = scroller.scrollTop;
    const first = Math.max(0, Math.floor(scrolled / rowHeight));
    const last = Math.min(rows.length, Math.ceil((scrolled + height) / rowHeight));
    const labelEvery = Math.max(1, Math.ceil(12 / rowHeight));
    pen.save();
    pen.beginPath();
    pen.rect(0, axisHeight, width, height - axisHeight);
    pen.clip();
    pen.font = '11px ui-monospace, monospace';
    pen.textBaseline = 'middle';
    for (let row = first; row < last; row++) {
      const top = axisHeight + row * rowHeight - scrolled;
      if (row === chosen) {
        pen.fillStyle = colour.grid;
        pen.fillRect(0, top, width, Math.max(2, rowHeight));
      }
      if (row % labelEvery === labelEvery >> 1 || row === chosen) {
        pen.fillStyle = row === chosen ? colour.ink : colour['faint-ink'];
        pen.textAlign = 'right';
        pen.fillText(rows[row].n, left - 6, top + rowHeight / 2);
        pen.textAlign = 'left';
      }
      drawRow(pen, rows[row], top, blocked);
    }
    pen.restore();
    drawCounts();
    const below = rows.length - Math.floor((scrolled + height - axisHeight) / rowHeight + 0.01);
    cue.textContent = below > 0 ? below + ' more below' : '';
    cue.hidden = below <= 0;
  }

  function drawCounts() {
    const width = size().width, pen = prepare(counts, width, 112);
    pen.font = '11px system-ui, sans-serif';
    pen.textBaseline = 'middle';
    [['running', data.running], ['waiting', data.waiting]].forEach(([name, steps], index) => {
      const base = 50 + index * 56, tall = 34;
      let top = 1;
      for (let i = 1; i < steps.length; i += 2) top = Math.max(top, steps[i]);
      pen.save();
      pen.beginPath();
      pen.rect(left, 0, plotWidth(), 112);
      pen.clip();
      pen.beginPath();
      pen.moveTo(left, base);
      let value = 0;
      for (let i = 0; i < steps.length; i += 2) {
        const at = Math.min(Math.max(x(steps[i]), left - 1), width);
        pen.lineTo(at, base - value / top * tall);
        value = steps[i + 1];
        pen.lineTo(at, base - value / top * tall);
      }
      pen.lineTo(Math.min(width, x(end)), base - value / top * tall);
      pen.lineTo(Math.min(width, x(end)), base);
      pen.closePath();
      pen.globalAlpha = 0.3;
      pen.fillStyle = index ? colour.waiting : colour.running;
      pen.fill();
      pen.globalAlpha = 1;
      pen.strokeStyle = pen.fillStyle;
      pen.stroke();
      if (!index && data.limit.length > 2) {
        pen.beginPath();
        for (let i = 0; i < data.limit.length; i += 2) {
          const high = base - Math.min(1, data.limit[i + 1] / top) * tall;
          const next = i + 2 < data.limit.length ? data.limit[i + 2] : end;
          pen.lineTo(x(data.limit[i]), high);
          pen.lineTo(x(next), high);
        }
        pen.setLineDash([4, 2]);
        pen.strokeStyle = colour.ink;
        pen.stroke();
      }
      pen.restore();
      pen.fillStyle = colour['faint-ink'];
      pen.fillText(name + ', at most ' + top, left, base - tall - 9);
    });
  }

  let waiting = false;
  function redraw() {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; draw(); });
  }

  function show(newFrom, newTo) {
    const length = Math.min(end, Math.max(Math.min(end, 20), newTo - newFrom));
    from = Math.min(Math.max(0, newFrom), end - length);
    to = from + length;
    redraw();
  }
  function zoom(factor, around) {
    const fixed = around === undefined ? (from + to) / 2 : around;
    show(fixed - (fixed - from) * factor, fixed + (to - fixed) * factor);
  }
  const move = share => show(from + (to - from) * share, to + (to - from) * share);
  function choose(row, scroll) {
    if (!rows.length) return;
    chosen = Math.min(Math.max(0, row), rows.length - 1);
    detail.textContent = rows[chosen].n + ': ' + rows[chosen].w;
    if (scroll) {
      const top = chosen * rowHeight, room = size().height - axisHeight - rowHeight;
      if (top < scroller.scrollTop) scroller.scrollTop = top;
      if (top > scroller.scrollTop + room) scroller.scrollTop = top - room;
    }
    redraw();
  }
  function zoomToChosen() {
    const task = rows[chosen];
    if (!task || !task.s.length) return;
    const start = task.s[1], stop = task.s[task.s.length - 1], margin = (stop - start) * 0.1 + 1;
    show(start - margin, stop + margin);
  }
  function toggleRows() {
    fitsAll = !fitsAll;
    scroller.scrollTop = 0;
    rowHeight = readable;
    element('rows').setAttribute('aria-pressed', String(fitsAll));
    redraw();
  }

  element('zoom-in').onclick = () => zoom(0.5);
  element('zoom-out').onclick = () => zoom(2);
  element('zoom-all').onclick = () => show(0, end);
  element('rows').onclick = toggleRows;
  const keys = {
    '+': () => zoom(0.5), '=': () => zoom(0.5), '-': () => zoom(2), '0': () => show(0, end),
    'ArrowLeft': () => move(-0.2), 'ArrowRight': () => move(0.2),
    'ArrowUp': () => choose(chosen - 1, true), 'ArrowDown': () => choose(chosen + 1, true),
    'Home': () => choose(0, true), 'End': () => choose(rows.length - 1, true),
    'Enter': zoomToChosen, 'r': toggleRows,
  };
  scroller.addEventListener('keydown', event => {
    if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  });
  scroller.addEventListener('scroll', redraw);
  scroller.addEventListener('wheel', event => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    zoom(event.deltaY > 0 ? 1.25 : 0.8, time(event.offsetX));
  }, { passive: false });
  // What is said of the task below the pointer stands beside the pointer.
  function point(task, event) {
    tip.hidden = !task;
    if (!task) return;
    tip.textContent = task.n + ': ' + task.w;
    const box = scroller.getBoundingClientRect();
    const place = (at, length, room) => at + 14 + length > room ? Math.max(0, at - length - 8) : at + 14;
    tip.style.left = place(event.clientX - box.left, tip.offsetWidth, box.width) + 'px';
    tip.style.top = place(event.clientY - box.top, tip.offsetHeight, box.height) + 'px';
  }

  // Search and filter: a task is shown whose name or life has the words, and whose state is switched on.
  const search = element('search'), states = [...document.querySelectorAll('#states button')];
  function filter() {
    const words = search.value.toLowerCase().split(' ').filter(word => word);
    const on = new Set(states.filter(button => button.ariaPressed === 'true').map(button => button.value));
    const before = rows[chosen];
    rows = tasks.filter(task => {
      const text = (task.n + ' ' + task.w).toLowerCase();
      return on.has(task.e) && words.every(word => text.includes(word));
    });
    chosen = before ? rows.indexOf(before) : -1;
    scroller.scrollTop = 0;
    detail.textContent = rows.length === tasks.length ? '' : rows.length + ' of ' + tasks.length + ' tasks';
    draw();
  }
  search.addEventListener('input', filter);
  for (const button of states) {
    button.onclick = () => {
      button.ariaPressed = String(button.ariaPressed !== 'true');
      filter();
    };
  }
  cue.onclick = () => { scroller.scrollTop += size().height - 2 * axisHeight; };

  let dragged = null;
  chart.addEventListener('pointerdown', event => {
    dragged = event.offsetX;
    chart.setPointerCapture(event.pointerId);
  });
  chart.addEventListener('pointerup', () => { dragged = null; });
  chart.addEventListener('pointercancel', () => { dragged = null; });
  chart.addEventListener('pointermove', event => {
    if (dragged !== null) {
      const by = (dragged - event.offsetX) / plotWidth();
      dragged = event.offsetX;
      move(by);
    } else if (event.offsetY > axisHeight) {
      const row = Math.floor((event.offsetY - axisHeight + scroller.scrollTop) / rowHeight);
      if (row !== chosen && row < rows.length) choose(row, false);
      point(row < rows.length ? rows[row] : null, event);
    }
  });
  chart.addEventListener('pointerleave', () => point(null));
  chart.addEventListener('dblclick', event => zoom(0.5, time(event.offsetX)));
  new ResizeObserver(redraw).observe(scroller);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
    readColours();
    redraw();
  });
  readColours();
  scroller.style.height =
    Math.min(size().height, axisHeight + tasks.length * readable + 6) + 'px';
  // With many tasks the shape of the whole comes first; the names are a key away.
  if (tasks.length * readable > 3 * size().height) toggleRows();
  draw();
})();
