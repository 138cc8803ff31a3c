import { useState } from 'react';

/** Light or dark, kept on this machine. */
export function ThemeSwitch() {
  const [theme, setTheme] = useState(() => document.documentElement.dataset.theme ?? 'light');
  const other = theme === 'dark' ? 'light' : 'dark';
  const change = () => {
    document.documentElement.dataset.theme = other;
    try {
      localStorage.setItem('burnish.theme', other);
    } catch {
      // Without storage it lasts as long as the page.
    }
    setTheme(other);
  };
  return (
    <button type="button" className="btn ghost small" onClick={change}>
      <span aria-hidden="true">{theme === 'dark' ? '☀' : '☾'}</span>{' '}
      {other === 'dark' ? 'Dark' : 'Light'}
    </button>
  );
}
