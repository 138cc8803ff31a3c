import { useCallback, useMemo } from 'react';
import { useLocation, useSearch } from 'wouter';

/** Filters, tabs and sorting live in the address: a link shows what its sender saw. */
export function useAddress(): {
  get(name: string): string;
  getAll(name: string): string[];
  set(changes: Record<string, string | readonly string[] | null>): void;
} {
  const search = useSearch();
  const [path, go] = useLocation();
  const values = useMemo(() => new URLSearchParams(search), [search]);
  const set = useCallback(
    (changes: Record<string, string | readonly string[] | null>) => {
      // Read anew: another change may have come between.
      const next = new URLSearchParams(window.location.search);
      for (const [name, value] of Object.entries(changes)) {
        next.delete(name);
        if (value === null || value === '') continue;
        for (const one of typeof value === 'string' ? [value] : value) next.append(name, one);
      }
      const text = next.toString();
      go(text === '' ? path : `${path}?${text}`, { replace: true });
    },
    [go, path],
  );
  return useMemo(
    () => ({
      get: (name: string) => values.get(name) ?? '',
      getAll: (name: string) => values.getAll(name),
      set,
    }),
    [values, set],
  );
}
