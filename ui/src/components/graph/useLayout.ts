import { useEffect, useEffectEvent, useRef, useState } from 'react';
import type { LayoutAnswer, LayoutRequest } from './layout';

export interface Placed<Graph> {
  graph: Graph;
  places: LayoutAnswer['places'];
}

/** Where each node stands: arranged beside the page; the last stays until the next is there. */
export function useLayout<Graph>(
  graph: Graph,
  requestOf: (id: number, graph: Graph) => LayoutRequest,
): Placed<Graph> | null {
  const [placed, setPlaced] = useState<Placed<Graph> | null>(null);
  const worker = useRef<Worker | null>(null);
  const asked = useRef({ id: 0, graph });
  const arrangeHere = useEffectEvent((id: number, wanted: Graph) => {
    const request = requestOf(id, wanted);
    void import('./layout').then(({ arrange }) =>
      setPlaced({ graph: wanted, places: arrange(request).places }),
    );
  });
  const arrange = useEffectEvent((id: number, wanted: Graph) => {
    if (worker.current) worker.current.postMessage(requestOf(id, wanted));
    else arrangeHere(id, wanted);
  });

  useEffect(() => {
    const made = new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' });
    worker.current = made;
    made.onmessage = ({ data }: MessageEvent<LayoutAnswer>) => {
      const wanted = asked.current;
      if (data.id === wanted.id) setPlaced({ graph: wanted.graph, places: data.places });
    };
    // A browser that refuses workers arranges on the page.
    made.onerror = () => {
      worker.current = null;
      arrangeHere(asked.current.id, asked.current.graph);
    };
    return () => made.terminate();
  }, []);

  useEffect(() => {
    const id = asked.current.id + 1;
    asked.current = { id, graph };
    arrange(id, graph);
  }, [graph]);

  return placed;
}
