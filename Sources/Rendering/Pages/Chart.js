// What the charts of runs share: their colours, an axis of time, a task's row, and a moment that is played.
'use strict';
const Chart = (() => {
  const font = '14px ui-monospace, monospace';

  // The state of each colour is read anew, because the reader may switch to dark while looking.
  const colour = {};
  function readColours() {
    const style = getComputedStyle(document.documentElement);
    for (const name of ['paper', 'ink', 'faint-ink', 'grid', 'waiting', 'running', 'blocked',
      'blocked-ground', 'suspended', 'failed', 'cancelled']) {
      colour[name] = style.getPropertyValue('--' + name).trim();
    }
  }
  readColours();
  function whenColoursChange(redraw) {
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
      readColours();
      redraw();
    });
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
    pen.font = font;
    pen.textBaseline = 'middle';
    return pen;
  }

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

  // The part of time that is drawn, between two edges.
  const scale = (from, to, left, width) => ({
    from, to, left, right: left + width, width,
    x: time => left + (time - from) / (to - from) * width,
    time: x => from + (x - left) / width * (to - from),
  });

  const units = [['s', 1e9], ['ms', 1e6], ['us', 1e3], ['ns', 1]];
  const unitFor = span => units.find(unit => span >= unit[1]) || units[3];
  // From two minutes on as the lab says it: 2 h 5 m.
  function duration(time) {
    const seconds = Math.round(time / 1e9);
    if (time >= 119.5e9) {
      const parts = seconds >= 3600 ? [[Math.floor(seconds / 3600), 'h'], [Math.floor(seconds % 3600 / 60), 'm']]
        : [[Math.floor(seconds / 60), 'm'], [seconds % 60, 's']];
      return parts.filter(part => part[0]).map(part => part.join(' ')).join(' ');
    }
    const [name, length] = unitFor(Math.max(1, time));
    return Number((time / length).toPrecision(3)) + ' ' + name;
  }

  function drawAxis(pen, scale, axisHeight, height) {
    const { from, to, left, right, x } = scale;
    const [name, length] = to >= 7.2e12 ? ['h', 3.6e12] : to >= 1.2e11 ? ['m', 6e10] : unitFor(to);
    const least = Math.max(1, (to - from) / Math.max(2, Math.floor(scale.width / 110))) / length;
    const power = 10 ** Math.floor(Math.log10(least));
    const step = [1, 2, 5, 10].map(factor => factor * power).find(step => step >= least) * length;
    const found = [];
    for (let at = Math.ceil(from / step) * step; at <= to; at += step) found.push(at);
    const decimals = Math.max(0, Math.ceil(-Math.log10(step / length) - 1e-9));
    found.forEach((at, index) => {
      const place = x(at);
      pen.fillStyle = colour.grid;
      pen.fillRect(place, axisHeight, 1, height - axisHeight);
      pen.fillStyle = colour['faint-ink'];
      const label = (at / length).toFixed(decimals) + (index === found.length - 1 ? ' ' + name : '');
      const width = pen.measureText(label).width;
      const start = Math.max(left - 6, Math.min(place - (index ? width / 2 : 0), right - width + 12));
      pen.fillText(label, start, axisHeight / 2);
    });
  }

  function drawEnd(pen, scale, task, middle, rowHeight) {
    if (task.t === undefined || task.t < scale.from || task.t > scale.to) return;
    // In rows as thin as hairs, only the ends that went wrong stand out.
    if (rowHeight < 3 && task.e === 'finished') return;
    const at = scale.x(task.t), reach = Math.min(5, Math.max(1.5, rowHeight * 0.3));
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

  // A task's life; its spans are phase, start and end, one after the other.
  function drawRow(pen, scale, task, top, rowHeight, blocked) {
    const middle = top + rowHeight / 2, spans = task.s;
    for (let i = 0; i < spans.length; i += 3) {
      const phase = spans[i], start = spans[i + 1], stop = spans[i + 2];
      if (stop < scale.from || start > scale.to) continue;
      const a = Math.max(scale.left, scale.x(start)), b = Math.min(scale.right, scale.x(stop));
      const width = Math.max(0.75, b - a);
      const tall = Math.max(1, rowHeight * [0.16, 0.7, 0.7, 0.4, 0.7][phase]);
      if (phase === 3 || phase === 4) {
        pen.strokeStyle = phase === 3 ? colour.suspended : colour.running;
        pen.lineWidth = 1;
        pen.setLineDash(phase === 3 ? [4, 2] : []);
        pen.strokeRect(a + 0.5, middle - tall / 2, Math.max(0, width - 1), tall);
        pen.setLineDash([]);
      } else {
        pen.fillStyle = [colour.waiting, blocked, colour.running][phase];
        pen.fillRect(a, middle - tall / 2, width, tall);
      }
    }
    drawEnd(pen, scale, task, middle, rowHeight);
  }

  // The value of a step function (time, value, time, value, …) at a moment.
  function valueAt(steps, at) {
    let low = 0, high = steps.length / 2;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (steps[2 * middle] <= at) low = middle + 1; else high = middle;
    }
    return low ? steps[2 * low - 1] : 0;
  }

  // The spans in which more bodies overlapped than the limit allows.
  function overLimit(run, end) {
    if (!run.limit.length) return [];
    const times = [...new Set([...run.running, ...run.limit].filter((_, index) => index % 2 === 0))]
      .sort((a, b) => a - b);
    const spans = [];
    times.forEach((time, index) => {
      if (valueAt(run.running, time) <= valueAt(run.limit, time)) return;
      const stop = index + 1 < times.length ? times[index + 1] : end;
      if (spans.length && spans[spans.length - 1][1] === time) spans[spans.length - 1][1] = stop;
      else spans.push([time, stop]);
    });
    return spans;
  }

  // Where bodies overlap beyond the limit, the ground is red, with an edge that is seen without colours.
  function drawOverLimit(pen, scale, spans, top, height) {
    for (const [start, stop] of spans) {
      if (stop < scale.from || start > scale.to) continue;
      const a = Math.max(scale.left, scale.x(start)), b = Math.min(scale.right, scale.x(stop));
      pen.fillStyle = colour.failed;
      pen.globalAlpha = 0.16;
      pen.fillRect(a, top, Math.max(1, b - a), height - top);
      pen.globalAlpha = 1;
      pen.fillRect(a, top, Math.max(1, b - a), 4);
    }
  }

  // What has not happened yet is pale, and a line stands at the moment.
  function drawMoment(pen, scale, at, top, height) {
    if (at >= scale.to) return;
    const place = Math.max(scale.left, scale.x(at));
    pen.fillStyle = colour.paper;
    pen.globalAlpha = 0.65;
    pen.fillRect(place, top, scale.right - place + 8, height - top);
    pen.globalAlpha = 1;
    if (at < scale.from) return;
    pen.fillStyle = colour.ink;
    pen.fillRect(place - 1, top, 2, height - top);
  }

  // A moment that goes on while it is played: all of it in ten seconds at the speed of 1.
  function player({ end, start, button, slider, speed, told, say, changed }) {
    let at = start, playing = false, before = 0;
    const name = button.querySelector('span');
    function show(time, isQuiet) {
      at = Math.min(Math.max(0, time), end);
      slider.value = Math.round(at / end * 1000);
      const words = say(at);
      slider.setAttribute('aria-valuetext', words);
      // While it is played, a screen reader is told no more than the end.
      told.setAttribute('aria-live', isQuiet ? 'off' : 'polite');
      told.textContent = words;
      changed(at);
    }
    function play(on) {
      playing = on;
      name.textContent = on ? 'Hold' : 'Play';
      if (!on) return show(at);
      if (at >= end) show(0, true);
      before = performance.now();
      requestAnimationFrame(goOn);
    }
    function goOn() {
      if (!playing) return;
      const now = performance.now();
      show(at + (now - before) / 10000 * end * Number(speed.value), true);
      before = now;
      if (at >= end) play(false); else requestAnimationFrame(goOn);
    }
    button.onclick = () => play(!playing);
    slider.addEventListener('input', () => {
      if (playing) play(false);
      show(Number(slider.value) / 1000 * end);
    });
    show(start);
    return {
      get at() { return at; },
      toggle: () => play(!playing),
      show: time => { if (playing) play(false); show(time); },
    };
  }

  return { colour, prepare, hatch, scale, duration, drawAxis, drawRow, valueAt, overLimit, drawOverLimit,
    drawMoment, player, whenColoursChange };
})();
