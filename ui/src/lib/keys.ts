import { useEffect, useEffectEvent } from 'react';

export interface Shortcut {
  /** As `event.key`, or two of them with a space between: `g r`. `Mod+Enter` is with Ctrl or Cmd. */
  keys: string;
  says: string;
  act(event: KeyboardEvent): void;
}

/** With Ctrl, or Cmd where there is one. */
export const SEND = 'Mod+Enter';

const registered = new Map<symbol, Shortcut[]>();
const listeners = new Set<() => void>();
const SECOND_KEY_MS = 1200;
let first: { key: string; at: number } | null = null;

/** Keys mean letters while somebody types. */
export function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
}

export function match(
  shortcuts: readonly Shortcut[],
  key: string,
  before: string | null,
): Shortcut | null {
  if (before !== null) {
    const double = shortcuts.find((one) => one.keys === `${before} ${key}`);
    if (double) return double;
  }
  return shortcuts.find((one) => one.keys === key) ?? null;
}

/** The name of what was pressed, or null where it is none of ours. Sending is, also while typing. */
export function pressed(
  event: Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey'>,
  typing: boolean,
): string | null {
  if (event.altKey) return null;
  if (event.ctrlKey || event.metaKey) return event.key === 'Enter' ? SEND : null;
  return typing && event.key !== 'Escape' ? null : event.key;
}

function onKey(event: KeyboardEvent): void {
  if (event.defaultPrevented) return;
  const key = pressed(event, isTyping(event.target));
  if (key === null || document.querySelector('dialog[open]')) return;
  // Enter and space belong to the control that has the focus.
  if (key === 'Enter' && event.target !== document.body && isControl(event.target)) return;
  const before = first && Date.now() - first.at < SECOND_KEY_MS ? first.key : null;
  // The page that came last has the first word.
  const found = match([...registered.values()].reverse().flat(), key, before);
  first = found ? null : { key, at: Date.now() };
  if (!found) return;
  event.preventDefault();
  found.act(event);
}

function isControl(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && target.closest('a, button, summary, [role=button]') !== null
  );
}

/** Shortcuts while the component is there; `?` lists them. */
export function useShortcuts(shortcuts: readonly Shortcut[]): void {
  const act = useEffectEvent((index: number, event: KeyboardEvent) => shortcuts[index]?.act(event));
  const shape = shortcuts.map((one) => `${one.keys}\u0000${one.says}`).join('\u0001');
  useEffect(() => {
    const token = Symbol('shortcuts');
    const list = shape === '' ? [] : shape.split('\u0001').map((one) => one.split('\u0000'));
    registered.set(
      token,
      list.map(([keys = '', says = ''], index) => ({
        keys,
        says,
        act: (event) => act(index, event),
      })),
    );
    if (registered.size === 1) document.addEventListener('keydown', onKey);
    listeners.forEach((tell) => tell());
    return () => {
      registered.delete(token);
      if (registered.size === 0) document.removeEventListener('keydown', onKey);
      listeners.forEach((tell) => tell());
    };
  }, [shape]);
}

export function allShortcuts(): Shortcut[] {
  return [...registered.values()].flat();
}
