import { useCallback, useEffect, useEffectEvent, useRef } from 'react';
import { throttled } from './throttle';

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
