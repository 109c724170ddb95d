// What a run's page must do; see page-in-a-browser. The run has tasks that finish and tasks that fail.
const work = async (view, page, check, width) => {
  const by = id => page.getElementById(id);
  // Drawn anew: a scroll is told at the next frame, and here there may be none.
  const frame = () => new Promise(done => {
    by('scroller').dispatchEvent(new view.Event('scroll'));
    setTimeout(done, 100);
  });
  const press = key => by('scroller').dispatchEvent(new view.KeyboardEvent('keydown', { key, bubbles: true }));
  const point = (kind, x, y) => {
    const box = by('chart').getBoundingClientRect();
    by('chart').dispatchEvent(
      new view.PointerEvent(kind, { clientX: box.left + x, clientY: box.top + y, bubbles: true }));
  };
  const all = JSON.parse(by('data').textContent).tasks;
  const ends = [...new Set(all.map(task => task.e))];

  const legend = [...page.querySelectorAll('.legend li')].map(item => item.textContent.trim());
  check(`the legend has what is there: ${legend}`, legend.includes('running')
    && legend.includes('failed') && !legend.includes('suspended') && !legend.includes('cancelled'));

  await frame();
  check('a cue says how many tasks are below', !by('cue').hidden && /^\d+ more below$/.test(by('cue').textContent));
  const top = by('scroller').scrollTop;
  by('cue').click();
  await frame();
  check('the cue scrolls', by('scroller').scrollTop > top);
  by('scroller').scrollTop = by('scroller').scrollHeight;
  await frame();
  check('at the end the cue is gone: ' + by('cue').textContent, by('cue').hidden);
  by('scroller').scrollTop = 0;

  press('Home');
  check('the first key chooses the first task', by('detail').textContent.startsWith(all[0].n + ': '));
  press('ArrowDown');
  check('down chooses the next', by('detail').textContent.startsWith(all[1].n + ': '));
  press('End');
  check('the end key chooses the last', by('detail').textContent.startsWith(all[all.length - 1].n + ': '));
  press('Home');
  await frame();

  point('pointermove', width / 2, 24 + 9);
  const tip = by('tip'), box = tip.getBoundingClientRect();
  check('the detail stands beside the pointer', !tip.hidden && tip.textContent.startsWith(all[0].n + ': ')
    && box.left >= 0 && box.right <= width && box.height > 0);
  point('pointerleave', 0, 0);
  check('and goes with it', tip.hidden);

  const states = [...page.querySelectorAll('#states button')];
  check('a switch for each state', states.map(button => button.value).sort().join() === ends.sort().join());
  const failed = states.find(button => button.value === 'failed');
  failed.click();
  press('End');
  const left = all.filter(task => task.e !== 'failed');
  check('a state switched off is gone', by('detail').textContent.startsWith(left[left.length - 1].n + ': ')
    && failed.getAttribute('aria-pressed') === 'false');
  for (const button of states) if (button !== failed) button.click();
  failed.click();
  press('End');
  check('only what failed is left', by('detail').textContent.includes('failed'));
  for (const button of states) if (button.getAttribute('aria-pressed') === 'false') button.click();
  by('search').value = all[4].n;
  by('search').dispatchEvent(new view.Event('input'));
  check('search finds one', by('detail').textContent === `1 of ${all.length} tasks`);
  press('End');
  check('and it is the one', by('detail').textContent.startsWith(all[4].n + ': '));
  by('search').value = '';
  by('search').dispatchEvent(new view.Event('input'));
  press('End');
  check('without words all are back', by('detail').textContent.startsWith(all[all.length - 1].n + ': '));

  page.querySelector('details').open = true;
  for (const table of page.querySelectorAll('table')) {
    const around = table.parentElement;
    check(`no column of ${table.className} is clipped: ${table.scrollWidth} of ${around.clientWidth}`,
      table.scrollWidth <= around.clientWidth + 1 && table.scrollWidth <= table.clientWidth + 1);
  }

  // What is played: it opens with all of it shown, the slider goes to a moment, the space bar plays.
  const wait = time => new Promise(done => setTimeout(done, time));
  check('it opens with all of it: ' + by('now').textContent, by('at').value === '1000');
  const whole = by('chart').toDataURL();
  by('at').value = 300;
  by('at').dispatchEvent(new view.Event('input'));
  await wait(100);
  check('the slider goes to a moment', by('chart').toDataURL() !== whole
    && /running \d+ of 3, waiting \d+$/.test(by('now').textContent));
  const at = Number(by('at').value);
  press(']');
  press(']');
  check('] goes to the next event', Number(by('at').value) >= at);
  by('speed').value = '4';
  press(' ');
  check('the button says what it does then', by('play').textContent.includes('Hold'));
  await wait(3500);
  check('it is played to the end', by('at').value === '1000' && by('play').textContent.includes('Play'));
};
