import { useState } from 'react';
import { useShortcuts } from './keys';

/** `j`, `k` and Enter over the rows of a list. Answers which one is selected, -1 for none. */
export function useRows(
  count: number,
  open: (index: number) => void,
): [number, (i: number) => void] {
  const [selected, select] = useState(-1);
  const at = Math.min(selected, count - 1);
  const move = (to: number) => {
    if (count === 0) return;
    const next = Math.max(0, Math.min(count - 1, to));
    select(next);
    document.querySelector(`[data-row="${next}"]`)?.scrollIntoView({ block: 'nearest' });
  };
  useShortcuts([
    { keys: 'j', says: 'Next row', act: () => move(at + 1) },
    { keys: 'k', says: 'Row before', act: () => move(at < 0 ? 0 : at - 1) },
    { keys: 'Enter', says: 'Open the row', act: () => at >= 0 && open(at) },
  ]);
  return [at, select];
}
