// What a comparison's page must do; see page-in-a-browser. Three runs, one of which keeps no limit.
const work = async (view, page, check, width) => {
  const by = id => page.getElementById(id);
  const wait = time => new Promise(done => setTimeout(done, time));
  const data = JSON.parse(by('data').textContent);
  const sections = [...page.querySelectorAll('.run')];
  const shown = () => sections.filter(section => !section.hidden);
  const slide = share => {
    by('at').value = 1000 * share;
    by('at').dispatchEvent(new view.Event('input'));
  };
  const press = key => page.body.dispatchEvent(new view.KeyboardEvent('keydown', { key, bubbles: true }));
  const pixels = canvas => canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
  const ink = canvas => new Set(pixels(canvas).filter((_, index) => index % 4 === 3)).size;

  await wait(200);
  check('a picture for each run', sections.length === data.runs.length && sections.every(section =>
    ink(section.querySelector('canvas')) > 1));
  check('all on one axis', new Set(sections.map(section => section.querySelector('canvas').clientWidth)).size === 1);
  check('each is told in words', sections.every(section =>
    section.querySelector('canvas').getAttribute('aria-label').length > 40));
  check('at the end all have ended: ' + by('now').textContent, sections.every(section =>
    section.querySelector('p').textContent.startsWith('all ' + data.runs[0].tasks.length + ' ended')));

  check('and who was first is told', / ended (first|together)$/.test(by('now').textContent));

  const whole = sections.map(section => pixels(section.querySelector('canvas')).join());
  slide(0.3);
  await wait(200);
  check('the slider goes to a moment in every run', sections.every((section, index) =>
    pixels(section.querySelector('canvas')).join() !== whole[index]));
  check('who is ahead is told: ' + by('now').textContent, by('now').textContent.includes(' ahead with ')
    || by('now').textContent.includes('all alike'));
  check('and read aloud', by('now').getAttribute('aria-live') === 'polite'
    && by('at').getAttribute('aria-valuetext') === by('now').textContent);
  const before = Number(by('at').value);
  press(']');
  check('] goes to the next end', Number(by('at').value) >= before);
  press('[');
  press('[');
  check('[ goes back', Number(by('at').value) <= before);

  by('play').click();
  const began = Number(by('at').value);
  check('the button says what it does then', by('play').textContent.includes('Hold'));
  await wait(400);
  check('it is played', Number(by('at').value) > began);
  by('play').click();
  const held = Number(by('at').value);
  await wait(200);
  check('and held', Number(by('at').value) === held && by('play').textContent.includes('Play'));
  by('speed').value = '4';
  press(' ');
  await wait(3500);
  check('to the end: ' + by('at').value, Number(by('at').value) === 1000 && by('play').textContent.includes('Play'));

  const first = page.querySelector('#runs button');
  first.click();
  check('a run is switched off', shown().length === sections.length - 1
    && first.getAttribute('aria-pressed') === 'false');
  first.click();
  check('and on', shown().length === sections.length);
};
