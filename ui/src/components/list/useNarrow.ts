import { useSyncExternalStore } from 'react';

const PHONE = '(max-width: 760px)';

/** Whether the page is as narrow as a phone: tables become cards there. */
export function useNarrow(): boolean {
  return useSyncExternalStore(
    (tell) => {
      const media = window.matchMedia(PHONE);
      media.addEventListener('change', tell);
      return () => media.removeEventListener('change', tell);
    },
    () => window.matchMedia(PHONE).matches,
  );
}
