(() => {
  const data = JSON.parse(document.getElementById('data').textContent);
  const element = id => document.getElementById(id);
  const { tasks, steps } = data, slider = element('at');
  const make = (tag, text, kind) => {
    const made = document.createElement(tag);
    if (text !== undefined) made.textContent = text;
    if (kind) made.className = kind;
    return made;
  };

  // A column for each task, and one for what no task does: cancellations, an actor's turns.
  const actors = tasks.concat([...new Set(steps.map(step => step.who))]
    .filter(who => !tasks.includes(who)));
  const rows = [], code = [];
  for (const actor of actors) {
    const column = make('section');
    column.append(make('h2', actor === '·' ? 'the scheduler' : actor));
    if (tasks.includes(actor) && data.files.length) {
      const stand = make('p', '', 'stand'), listing = make('pre', undefined, 'code');
      listing.tabIndex = 0;
      listing.setAttribute('aria-label', 'the code ' + actor + ' stands in');
      column.append(stand, listing);
      code.push({ stand, listing });
    }
    steps.forEach((step, index) => {
      if (step.who !== actor) return;
      const row = make('button', step.number + '  ' + step.what);
      if (data.race.includes(step.number)) row.dataset.race = '◀';
      row.onclick = () => show(index + 1);
      rows[index] = row;
      column.append(row);
    });
    element('columns').append(column);
  }

  const glyphs = { waiting: '·', running: '█', finished: '|', failed: '!', cancelled: 'x' };
  tasks.forEach((task, place) => {
    const row = make('tr');
    row.append(make('th', task));
    steps.forEach((step, index) => {
      const state = step.states[place];
      const before = index ? steps[index - 1].states[place] : '';
      const isOver = state === before && state !== 'waiting' && state !== 'running';
      const cell = make('td', isOver ? '' : glyphs[state] || '', isOver ? '' : state);
      // Bodies that overlap beyond the limit are seen to, in all rows.
      if (state === 'running' && data.limit != null && step.running > data.limit) cell.classList.add('over');
      row.append(cell);
    });
    element('strips').append(row);
  });

  // The line of waiters: in the order in which they began to wait.
  function line(at) {
    let waiting = [];
    for (let index = 0; index < at; index++) {
      const is = steps[index].states.map((state, place) => state === 'waiting' ? place : -1);
      waiting = waiting.filter(place => is.includes(place));
      for (const place of is) if (place >= 0 && !waiting.includes(place)) waiting.push(place);
    }
    return waiting.map(place => tasks[place]).join(', ') || 'nobody';
  }

  // Lights up the line that a task stands at, in the file it is in.
  function light({ stand, listing }, line, state) {
    const file = line && data.files.find(file => file.name === line.file);
    listing.hidden = !file;
    stand.textContent = line ? line.file + ':' + line.number
      : !state ? 'has not begun' : state === 'running' || state === 'waiting' ? state : 'has ended';
    if (!file) return;
    if (listing.dataset.file !== file.name) {
      listing.dataset.file = file.name;
      listing.replaceChildren(...file.lines.map((text, index) =>
        make('span', String(index + 1).padStart(4) + '  ' + text + '\n')));
    }
    for (const lit of listing.querySelectorAll('.lit')) {
      lit.classList.remove('lit');
      lit.removeAttribute('aria-current');
    }
    const lit = listing.children[line.number - 1];
    lit.classList.add('lit');
    lit.setAttribute('aria-current', 'location');
    listing.scrollTop = lit.offsetTop - listing.clientHeight / 2;
  }

  function show(at) {
    slider.value = at;
    const step = at ? steps[at - 1] : null;
    element('where').textContent = (step ? step.number : 0) + ' of ' + (steps.at(-1)?.number ?? 0)
      + (step ? ': ' + step.who + ' ' + step.what : ': nothing has happened');
    // Where nothing is admitted, nobody counts.
    const counts = steps.some(step => step.running != null), said = [];
    if (counts) said.push('running ' + (step ? step.running : 0) + (data.limit == null ? '' : ' of ' + data.limit));
    if (counts) said.push('line: ' + line(at));
    if (step && step.broke) said.push('✗ ' + step.broke);
    if (step && step.number > data.length) said.push('the aftermath');
    element('state').textContent = said.join(' · ');
    element('state').className = step && step.broke ? 'broken' : '';
    rows.forEach((row, index) => {
      row.className = index === at - 1 ? 'now' : index < at ? 'past' : '';
      if (index === at - 1) row.setAttribute('aria-current', 'step');
      else row.removeAttribute('aria-current');
    });
    code.forEach((column, place) =>
      light(column, step && step.lines[place], step && step.states[place]));
    for (const row of element('strips').rows) {
      [...row.cells].forEach((cell, index) => cell.classList.toggle('at', index === at && at > 0));
    }
    document.body.dataset.at = at;
  }

  // Plays the steps, from the beginning where it stands at the end.
  const play = element('play'), speed = element('speed');
  let timer = null;
  function hold() {
    clearInterval(timer);
    timer = null;
    play.firstElementChild.textContent = 'Play';
    element('where').setAttribute('aria-live', 'polite');
  }
  function toggle() {
    if (timer !== null) return hold();
    // A screen reader is not told of each step.
    element('where').setAttribute('aria-live', 'off');
    play.firstElementChild.textContent = 'Hold';
    if (Number(slider.value) >= steps.length) show(0);
    timer = setInterval(() => {
      const at = Number(slider.value) + 1;
      show(Math.min(at, steps.length));
      if (at >= steps.length) hold();
    }, 1000 / Number(speed.value));
  }
  play.onclick = toggle;
  speed.addEventListener('change', () => { if (timer !== null) { hold(); toggle(); } });
  slider.addEventListener('input', () => { hold(); show(Number(slider.value)); });
  const keys = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 };
  document.addEventListener('keydown', event => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const tag = event.target.tagName;
    if (tag === 'SELECT' || tag === 'SUMMARY') return;
    if (event.key === ' ' && tag !== 'BUTTON') {
      event.preventDefault();
      toggle();
      return;
    }
    let at = Number(slider.value);
    if (event.key in keys) at += keys[event.key];
    else if (event.key === 'Home') at = 0;
    else if (event.key === 'End') at = steps.length;
    else return;
    event.preventDefault();
    hold();
    show(Math.min(steps.length, Math.max(0, at)));
  });
  // The two steps that matter, to go to.
  if (data.race.length) {
    const go = number => {
      const made = make('button', 'step ' + number);
      made.onclick = () => show(steps.findLastIndex(step => step.number === number) + 1);
      return made;
    };
    element('matters').replaceChildren('What matters: ', go(data.race[0]),
      data.between, go(data.race[1]), data.behind + '.');
  }
  show(data.start);
  // The page opens at its beginning; what it is about may be far down.
  if (data.start) rows[data.start - 1]?.scrollIntoView({ block: 'nearest' });
})();
