/// How the page of a run looks.
enum PageStyle {
  static let text = """
    * { box-sizing: border-box }
    body { margin: 0 auto; padding: 1.25rem; max-width: 1400px; background: var(--paper);
      color: var(--ink); font: 15px/1.5 system-ui, sans-serif }
    h1 { font-size: 1.4rem; margin: 0 } h2 { font-size: 1.05rem; margin: 1.5rem 0 .5rem }
    header p { margin: .15rem 0; color: var(--faint-ink) } header .line { color: var(--ink) }
    .faint { color: var(--faint-ink); font-size: .85rem }
    .notes { padding: 0; list-style: none } .notes li { border-left: 4px solid var(--blocked);
      padding: .2rem .7rem; margin: .3rem 0 } .notes .wrong { border-color: var(--failed) }
    .notes span { color: var(--faint-ink) }
    .bar { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; margin-bottom: .5rem }
    button { font: inherit; color: inherit; background: transparent; padding: .2rem .7rem;
      border: 1px solid var(--waiting); border-radius: 6px; cursor: pointer }
    button:hover { background: var(--grid) } button[aria-pressed=true] { background: var(--grid) }
    kbd { font: .8em ui-monospace, monospace; color: var(--faint-ink) }
    :focus-visible { outline: 2px solid var(--running); outline-offset: 2px }
    .legend { display: flex; flex-wrap: wrap; gap: .2rem 1rem; margin: 0 0 0 .5rem; padding: 0;
      list-style: none; font-size: .85rem; color: var(--faint-ink) }
    .legend li { display: flex; gap: .4rem; align-items: center }
    #scroller { position: relative; height: min(62vh, 640px); overflow-y: auto;
      overflow-x: hidden; border: 1px solid var(--grid); border-radius: 6px; touch-action: pan-y }
    #chart { position: sticky; top: 0; display: block; cursor: grab }
    #counts { display: block; width: 100%; height: 112px; margin-top: 6px }
    #detail { min-height: 1.5em; margin: .4rem 0; font-weight: 600 }
    .columns { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr));
      gap: 0 2.5rem } .columns p { margin: .3rem 0 } .columns section { overflow-x: auto }
    table { border-collapse: collapse; font-variant-numeric: tabular-nums }
    th, td { padding: .2rem .8rem; text-align: right; border-bottom: 1px solid var(--grid) }
    th[scope=row], td:last-child { text-align: left } thead th { color: var(--faint-ink);
      font-weight: 400 } .figures td:last-child { text-align: right }
    details { margin: 1.5rem 0 } summary { cursor: pointer; font-weight: 600 }
    .tasks { margin-top: .5rem; display: block; max-height: 70vh; overflow: auto }
    @media print { #scroller { height: auto } details { display: block } .bar button { display: none } }
    """
}
