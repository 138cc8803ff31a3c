// Before anything is drawn: the chosen theme, or else the system's.
(() => {
  let chosen = null;
  try {
    chosen = localStorage.getItem('burnish.theme');
  } catch {
    // Storage may be forbidden; the system's theme it is.
  }
  const dark = matchMedia('(prefers-color-scheme: dark)').matches;
  document.documentElement.dataset.theme = chosen ?? (dark ? 'dark' : 'light');
})();
