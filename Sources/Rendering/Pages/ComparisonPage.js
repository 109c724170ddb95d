// Runs of the same tasks below each other on one axis: switched on and off, and played.
(() => {
  const data = JSON.parse(document.getElementById('data').textContent);
  const element = id => document.getElementById(id);
  const { colour } = Chart;
  const end = Math.max(1, data.end), axisHeight = 28, least = 3, most = 22, highest = 260, margin = 14;
  const left = margin + 9 * Math.max(0, ...data.runs.map(run => run.tasks.length ? run.tasks[0].n.length : 0));
  const switches = [...document.querySelectorAll('#runs button')];
  let moment = end;
  const lanes = data.runs.map((run, index) => {
    const ends = run.tasks.map(task => task.t).filter(time => time !== undefined).sort((a, b) => a - b);
    const section = element('run-' + index);
    return { run, section, ends, over: Chart.overLimit(run, end), canvas: section.querySelector('canvas'),
      standing: section.querySelector('p') };
  });

  const ended = (lane, at) => {
    let low = 0, high = lane.ends.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (lane.ends[middle] <= at) low = middle + 1; else high = middle;
    }
    return low;
  };
  const isShown = lane => !lane.section.hidden;

  function standing(lane, at) {
    const value = name => Chart.valueAt(lane.run[name], at), count = lane.run.tasks.length;
    const done = ended(lane, at);
    if (done === count && count) return 'all ' + count + ' ended by ' + Chart.duration(lane.ends[count - 1]);
    const limit = lane.run.limit.length ? ' of ' + value('limit') : '';
    const isOver = limit && value('running') > value('limit');
    return done + ' of ' + count + ' ended, running ' + value('running') + limit + ', waiting '
      + value('waiting') + (isOver ? ' · over the limit' : '');
  }

  // Who has ended most by then; of those that have ended all, who did so first.
  function say(at) {
    const shown = lanes.filter(isShown);
    if (!shown.length) return Chart.duration(at) + ': no run is shown';
    const score = lane => {
      const done = ended(lane, at);
      return done + (done === lane.run.tasks.length ? 1 - lane.ends[done - 1] / (end + 1) : 0);
    };
    const best = Math.max(...shown.map(score));
    const first = shown.filter(lane => score(lane) === best);
    const names = first.map(lane => lane.run.name).join(', '), moment = Chart.duration(at) + ': ';
    const hasEnded = Math.floor(best) === first[0].run.tasks.length;
    const areLevel = first.length === shown.length && first.length > 1;
    if (hasEnded) return moment + (areLevel ? 'all ended together' : names + ' ended first');
    return moment + (areLevel ? 'all alike' : names + ' ahead')
      + ' with ' + Math.floor(best) + ' of ' + first[0].run.tasks.length;
  }

  function drawLane(lane) {
    const { canvas, run } = lane, tasks = run.tasks;
    const width = lane.section.clientWidth;
    const rowHeight = Math.min(most, Math.max(least, highest / Math.max(1, tasks.length)));
    // Of more rows than there is room for, as many as fit, spread over all.
    const every = Math.max(1, Math.ceil(tasks.length * rowHeight / highest));
    const rows = tasks.filter((_, index) => index % every === 0);
    const height = axisHeight + rows.length * rowHeight + 6;
    const pen = Chart.prepare(canvas, width, height);
    const shown = Chart.scale(0, end, left, Math.max(1, width - left - margin));
    Chart.drawAxis(pen, shown, axisHeight, height);
    Chart.drawOverLimit(pen, shown, lane.over, axisHeight, height);
    const blocked = Chart.hatch(pen), labelEvery = Math.max(1, Math.ceil(16 / rowHeight));
    rows.forEach((task, row) => {
      const top = axisHeight + row * rowHeight;
      if (row % labelEvery === labelEvery >> 1) {
        pen.fillStyle = colour['faint-ink'];
        pen.textAlign = 'right';
        pen.fillText(task.n, left - 6, top + rowHeight / 2);
        pen.textAlign = 'left';
      }
      Chart.drawRow(pen, shown, task, top, rowHeight, blocked);
    });
    Chart.drawMoment(pen, shown, moment, axisHeight, height);
    canvas.dataset.at = moment;
  }

  let waiting = false;
  function redraw() {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      lanes.filter(isShown).forEach(drawLane);
    });
  }

  const violations = data.runs.map(run => run.violation).filter(time => time !== undefined);
  const player = Chart.player({
    end, start: violations.length ? Math.min(...violations) : end, button: element('play'),
    slider: element('at'), speed: element('speed'), told: element('now'), say,
    changed: at => {
      moment = at;
      for (const lane of lanes) lane.standing.textContent = standing(lane, at);
      redraw();
    },
  });
  switches.forEach((button, index) => {
    button.onclick = () => {
      const on = button.getAttribute('aria-pressed') !== 'true';
      button.setAttribute('aria-pressed', String(on));
      lanes[index].section.hidden = !on;
      player.show(moment);
    };
  });
  for (const { canvas } of lanes) {
    canvas.addEventListener('pointerdown', event => {
      const shown = Chart.scale(0, end, left, Math.max(1, canvas.clientWidth - left - margin));
      player.show(shown.time(event.offsetX));
    });
  }
  // The next moment at which something ended in any run that is shown.
  function next(direction) {
    const times = lanes.filter(isShown).flatMap(lane => lane.ends)
      .filter(time => direction > 0 ? time > moment : time < moment);
    return times.length ? (direction > 0 ? Math.min(...times) : Math.max(...times)) : direction > 0 ? end : 0;
  }
  document.addEventListener('keydown', event => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    // On a button the space bar presses the button, and in the slider the arrows move it.
    const isControl = ['BUTTON', 'SELECT', 'SUMMARY'].includes(event.target.tagName);
    const act = { '[': () => player.show(next(-1)), ']': () => player.show(next(1)),
      ' ': isControl ? null : player.toggle }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
  new ResizeObserver(redraw).observe(document.body);
  Chart.whenColoursChange(redraw);
  lanes.filter(isShown).forEach(drawLane);
})();
