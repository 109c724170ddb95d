// What a schedule's page must do; see page-in-a-browser. The schedule admits more than may be.
const work = async (view, page, check) => {
  const by = id => page.getElementById(id);
  const wait = time => new Promise(done => setTimeout(done, time));
  const data = JSON.parse(by('data').textContent);
  const broken = data.steps.findIndex(step => step.broke) + 1;
  check('it opens at what breaks: ' + by('where').textContent, broken > 0 && Number(by('at').value) === broken
    && by('state').className === 'broken');
  const over = [...page.querySelectorAll('#strips .over')];
  const columns = new Set(over.map(cell => cell.cellIndex));
  check('bodies that overlap are seen in all their rows', [...columns].some(column =>
    over.filter(cell => cell.cellIndex === column).length > data.limit));
  const running = [...page.querySelectorAll('#strips .running')];
  check('a body is a bar from cell to cell', running.length > 1 && running.every(cell =>
    view.getComputedStyle(cell).paddingLeft === '0px' && view.getComputedStyle(cell).backgroundImage !== 'none'));

  const press = (key, target) => (target || page.body).dispatchEvent(
    new view.KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
  press('Home');
  check('Home goes to the beginning', Number(by('at').value) === 0);
  press('ArrowRight');
  check('an arrow goes a step', Number(by('at').value) === 1);
  by('speed').value = '5';
  press(' ');
  check('the button says what it does then', by('play').textContent.includes('Hold')
    && by('where').getAttribute('aria-live') === 'off');
  await wait(500);
  check('it is played', Number(by('at').value) > 1);
  await wait(data.steps.length * 250);
  check('to the end, and is read aloud again', Number(by('at').value) === data.steps.length
    && by('play').textContent.includes('Play') && by('where').getAttribute('aria-live') === 'polite');
};
