import { useEffect, useRef, useState } from 'react';
import type { Shown } from './family';
import type { LayoutAnswer, LayoutRequest } from '@/components/graph/layout';

export const SIZES = {
  candidate: { width: 148, height: 44 },
  bundle: { width: 74, height: 32 },
} as const;

export interface Arranged {
  shown: Shown;
  places: LayoutAnswer['places'];
}

/** Arranges in a worker; the last arrangement stays until the next is there. */
export function useArranged(shown: Shown): { arranged: Arranged | null; busy: boolean } {
  const [arranged, setArranged] = useState<Arranged | null>(null);
  const worker = useRef<Worker | null>(null);
  const asked = useRef({ id: 0, shown });

  useEffect(() => {
    const made = new Worker(new URL('../../../components/graph/worker.ts', import.meta.url), {
      type: 'module',
    });
    worker.current = made;
    made.onmessage = ({ data }: MessageEvent<LayoutAnswer>) => {
      const wanted = asked.current;
      if (data.id === wanted.id) setArranged({ shown: wanted.shown, places: data.places });
    };
    // A browser that refuses workers arranges on the page.
    made.onerror = () => {
      worker.current = null;
      void here(request(asked.current)).then((places) =>
        setArranged({ shown: asked.current.shown, places }),
      );
    };
    return () => made.terminate();
  }, []);

  useEffect(() => {
    const wanted = { id: asked.current.id + 1, shown };
    asked.current = wanted;
    if (worker.current) worker.current.postMessage(request(wanted));
    else void here(request(wanted)).then((places) => setArranged({ shown, places }));
  }, [shown]);

  return { arranged, busy: arranged?.shown !== shown };
}

function request({ id, shown }: { id: number; shown: Shown }): LayoutRequest {
  return {
    id,
    nodes: shown.nodes.map((node) => ({ id: node.id, ...SIZES[node.kind] })),
    edges: shown.edges.map(({ from, to, lit, merged }) => ({ from, to, lit, merged })),
  };
}

async function here(wanted: LayoutRequest): Promise<LayoutAnswer['places']> {
  const { arrange } = await import('@/components/graph/layout');
  return arrange(wanted).places;
}
