// What makes the chart of the page move.
(() => {
  const data = JSON.parse(document.getElementById('data').textContent);
  const element = id => document.getElementById(id);
  const { colour } = Chart;
  const scroller = element('scroller'), chart = element('chart'), counts = element('counts');
  const spacer = element('spacer'), detail = element('detail');
  const tasks = data.tasks, end = Math.max(1, data.end);
  const left = 14 + 9 * Math.max(...[0].concat(tasks.slice(0, 1).map(task => task.n.length)));
  const right = 14, axisHeight = 28, readable = 22, countsHeight = 128;
  const tip = element('tip'), cue = element('cue');
  let from = 0, to = end, rowHeight = readable, chosen = -1, fitsAll = false;
  // The tasks that search and filter leave.
  let rows = tasks;
  // The moment that is shown; what comes after it is pale.
  let moment = end;
  const over = Chart.overLimit(data, end);

  const size = () => ({ width: scroller.clientWidth, height: scroller.clientHeight });
  const plotWidth = () => Math.max(1, size().width - left - right);
  const scale = () => Chart.scale(from, to, left, plotWidth());
  const time = x => scale().time(x);

  function draw() {
    const { width, height } = size();
    if (fitsAll) rowHeight = Math.min(readable, (height - axisHeight - 4) / Math.max(1, rows.length));
    spacer.style.height = Math.max(0, axisHeight + rows.length * rowHeight - height) + 'px';
    const pen = Chart.prepare(chart, width, height), shown = scale();
    Chart.drawAxis(pen, shown, axisHeight, height);
    Chart.drawOverLimit(pen, shown, over, axisHeight, height);
    const blocked = Chart.hatch(pen), scrolled = scroller.scrollTop;
    const first = Math.max(0, Math.floor(scrolled / rowHeight));
    const last = Math.min(rows.length, Math.ceil((scrolled + height) / rowHeight));
    const labelEvery = Math.max(1, Math.ceil(16 / rowHeight));
    pen.save();
    pen.beginPath();
    pen.rect(0, axisHeight, width, height - axisHeight);
    pen.clip();
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
      Chart.drawRow(pen, shown, rows[row], top, rowHeight, blocked);
    }
    Chart.drawMoment(pen, shown, moment, axisHeight, height);
    pen.restore();
    drawCounts();
    const below = rows.length - Math.floor((scrolled + height - axisHeight) / rowHeight + 0.01);
    cue.textContent = below > 0 ? below + ' more below' : '';
    cue.hidden = below <= 0;
  }

  function drawCounts() {
    const width = size().width, pen = Chart.prepare(counts, width, countsHeight);
    const shown = scale(), x = shown.x, names = [];
    [['running', data.running], ['waiting', data.waiting]].forEach(([name, steps], index) => {
      const base = 56 + index * 64, tall = 34;
      let top = 1;
      for (let i = 1; i < steps.length; i += 2) top = Math.max(top, steps[i]);
      pen.save();
      pen.beginPath();
      pen.rect(left, 0, plotWidth(), countsHeight);
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
      names.push([name + ', at most ' + top, base - tall - 10]);
    });
    Chart.drawOverLimit(pen, shown, over, 0, countsHeight);
    Chart.drawMoment(pen, shown, moment, 0, countsHeight);
    pen.fillStyle = colour['faint-ink'];
    for (const [text, place] of names) pen.fillText(text, left, place);
  }

  // What was at a moment, in words.
  function say(at) {
    const value = name => Chart.valueAt(data[name], at);
    const limit = data.limit.length ? ' of ' + value('limit') : '';
    const isOver = data.limit.length && value('running') > value('limit');
    return Chart.duration(at) + ': running ' + value('running') + limit + ', waiting '
      + value('waiting') + (isOver ? ' · over the limit' : '');
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
    'Enter': zoomToChosen, 'r': toggleRows, ' ': () => player.toggle(),
    '[': () => player.show(nextEvent(-1)), ']': () => player.show(nextEvent(1)),
  };
  // The moment before or after this one at which a count changed.
  function nextEvent(direction) {
    const times = [...data.running, ...data.waiting].filter((_, index) => index % 2 === 0);
    const others = times.filter(time => direction > 0 ? time > moment : time < moment);
    return others.length ? (direction > 0 ? Math.min : Math.max)(...others) : direction > 0 ? end : 0;
  }
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
  Chart.whenColoursChange(redraw);
  scroller.style.height =
    Math.min(size().height, axisHeight + tasks.length * readable + 6) + 'px';
  // With many tasks the shape of the whole comes first; the names are a key away.
  if (tasks.length * readable > 3 * size().height) toggleRows();
  // The page opens at what went wrong, if that has a moment; else all of it is shown.
  const player = Chart.player({
    end, start: data.violation === undefined ? end : data.violation, button: element('play'),
    slider: element('at'), speed: element('speed'), told: element('now'), say,
    changed: at => { moment = at; redraw(); },
  });
  draw();
})();
