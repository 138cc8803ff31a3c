import { useState, type ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import { allShortcuts, SEND, useShortcuts } from '@/lib/keys';
import { Toasts } from './Toasts';
import { Dialog } from '../Dialog';

const PLACES: readonly { to: string; label: string; icon: IconName; key: string }[] = [
  { to: '/runs', label: 'Runs', icon: 'runs', key: 'r' },
  { to: '/evaluations', label: 'Evaluations', icon: 'evaluations', key: 'e' },
  { to: '/agents', label: 'Agents', icon: 'agents', key: 'a' },
  { to: '/optimizers', label: 'Optimizers', icon: 'optimizers', key: 'o' },
  { to: '/workbench', label: 'Images', icon: 'images', key: 'i' },
  { to: '/suites', label: 'Data', icon: 'data', key: 'd' },
  { to: '/labels', label: 'Labels', icon: 'labels', key: 'l' },
];

/** Navigation around every screen. */
export function Shell({ children }: { children: ReactNode }) {
  const [path, go] = useLocation();
  const [help, setHelp] = useState(false);
  useShortcuts([
    { keys: '?', says: 'This list', act: () => setHelp(true) },
    {
      keys: '/',
      says: 'Search',
      act: () => document.querySelector<HTMLInputElement>('[data-search]')?.focus(),
    },
    ...PLACES.map((place) => ({
      keys: `g ${place.key}`,
      says: `Go to ${place.label}`,
      act: () => go(place.to),
    })),
  ]);
  return (
    <div className="app">
      <a className="skip" href="#main">
        Skip to the content
      </a>
      <nav className="nav" aria-label="Main">
        <Link href="/" className="brand">
          <img src="/icon.svg" alt="" />
          Burnish
        </Link>
        <ul className="nav-links">
          {PLACES.map((place) => (
            <li key={place.to}>
              <Link href={place.to} aria-current={path.startsWith(place.to) ? 'page' : undefined}>
                <Icon name={place.icon} />
                {place.label}
              </Link>
            </li>
          ))}
        </ul>
        <div className="nav-foot">
          <Link
            href="/start"
            className="btn ghost small nav-start"
            aria-current={path === '/start' ? 'page' : undefined}
          >
            First steps
          </Link>
          <div className="row">
            <ThemeSwitch />
            <button type="button" className="btn ghost small" onClick={() => setHelp(true)}>
              <kbd className="kbd">?</kbd> Keys
            </button>
          </div>
        </div>
      </nav>
      <main className="main" id="main" tabIndex={-1}>
        {children}
      </main>
      {help && <KeyHelp onClose={() => setHelp(false)} />}
      <Toasts />
    </div>
  );
}

/** Light or dark, kept on this machine. */
function ThemeSwitch() {
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

/** Small line drawings for the navigation. */
const PATHS = {
  runs: 'M3 17 L8 11 L12 14 L17 5 M17 5 h-4 M17 5 v4',
  agents: 'M10 3 a3.2 3.2 0 1 1 0 6.4 a3.2 3.2 0 1 1 0-6.4 M4 17 c0-4 3-5.5 6-5.5 s6 1.5 6 5.5',
  optimizers: 'M4 5 h12 M4 10 h12 M4 15 h12 M8 3 v4 M13 8 v4 M7 13 v4',
  evaluations: 'M4 10.5 l3.5 3.5 L16 5.5',
  data: 'M4 5 c0-2 12-2 12 0 v10 c0 2-12 2-12 0 z M4 5 c0 2 12 2 12 0 M4 10 c0 2 12 2 12 0',
  labels: 'M3 4 h7 l7 7 l-6 6 l-8-8 z M6.5 7.5 h.01',
  images: 'M3 4 h14 v12 H3 z M3 14 l4-4 3 3 3-4 4 5',
} as const;

type IconName = keyof typeof PATHS;

function Icon({ name }: { name: IconName }) {
  return (
    <svg width="18" height="18" viewBox="0 0 20 20" aria-hidden="true">
      <path
        d={PATHS[name]}
        fill="none"
        stroke="currentColor"
        strokeWidth="1.7"
        strokeLinecap="round"
        strokeLinejoin="round"
      />
    </svg>
  );
}

const NAMES: Record<string, string> = {
  Escape: 'Esc',
  [SEND]: 'Ctrl / ⌘ + Enter',
  ArrowLeft: '←',
  ArrowRight: '→',
};

/** What the keyboard can do on this page. */
function KeyHelp({ onClose }: { onClose: () => void }) {
  const seen = new Set<string>();
  const shown = allShortcuts().filter((one) => !seen.has(one.keys) && seen.add(one.keys));
  return (
    <Dialog title="Keyboard" onClose={onClose}>
      <dl className="kv">
        {shown.map((one) => (
          <div key={one.keys} style={{ display: 'contents' }}>
            <dt>
              {one.keys.split(' ').map((key) => (
                <span key={key}>
                  <kbd className="kbd">{NAMES[key] ?? key}</kbd>{' '}
                </span>
              ))}
            </dt>
            <dd>{one.says}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
