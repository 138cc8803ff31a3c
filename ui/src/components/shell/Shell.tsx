import { useState, type ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import { useShortcuts } from '@/lib/keys';
import { Icon, type IconName } from './Icons';
import { KeyHelp } from './KeyHelp';
import { ThemeSwitch } from './Theme';
import { Toasts } from './Toasts';

const PLACES: readonly { to: string; label: string; icon: IconName; key: string }[] = [
  { to: '/runs', label: 'Runs', icon: 'runs', key: 'r' },
  { to: '/evaluations', label: 'Evaluations', icon: 'evaluations', key: 'e' },
  { to: '/agents', label: 'Agents', icon: 'agents', key: 'a' },
  { to: '/optimizers', label: 'Optimizers', icon: 'optimizers', key: 'o' },
  { to: '/workbench', label: 'Images', icon: 'images', key: 'i' },
  { to: '/suites', label: 'Data', icon: 'data', key: 'd' },
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
        <Link href="/runs" className="brand">
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
