import { useCallback, useEffect, useEffectEvent, useRef } from 'react';

/** Calls `act`, as it is by then, at most every `milliseconds`; the last call is never lost. */
export function useThrottled(act: () => void, milliseconds: number): () => void {
  const now = useEffectEvent(act);
  const gate = useRef<(() => void) | null>(null);
  useEffect(() => {
    gate.current = throttled(() => now(), milliseconds);
    return () => {
      gate.current = null;
    };
  }, [milliseconds]);
  return useCallback(() => gate.current?.(), []);
}

/** Calls `act` at once, then at most every `milliseconds`; the last call is never lost. */
export function throttled(act: () => void, milliseconds: number): () => void {
  let timer: ReturnType<typeof setTimeout> | null = null;
  let again = false;
  const fire = () => {
    again = false;
    act();
    timer = setTimeout(() => {
      timer = null;
      if (again) fire();
    }, milliseconds);
  };
  return () => {
    if (timer === null) fire();
    else again = true;
  };
}
