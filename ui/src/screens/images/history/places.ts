import { useEffect, useRef, useState } from 'react';
import type { LayoutAnswer, LayoutRequest } from '@/components/graph/layout';
import type { History } from './history';

export const NODE = { width: 128, height: 134 } as const;

export interface Placed {
  history: History;
  places: LayoutAnswer['places'];
}

/** Where each commit stands: arranged beside the page; the last stays until the next is there. */
export function usePlaces(history: History): Placed | null {
  const [placed, setPlaced] = useState<Placed | null>(null);
  const worker = useRef<Worker | null>(null);
  const asked = useRef({ id: 0, history });

  useEffect(() => {
    const made = new Worker(new URL('../../../components/graph/worker.ts', import.meta.url), {
      type: 'module',
    });
    worker.current = made;
    made.onmessage = ({ data }: MessageEvent<LayoutAnswer>) => {
      const wanted = asked.current;
      if (data.id === wanted.id) setPlaced({ history: wanted.history, places: data.places });
    };
    // A browser that refuses workers arranges on the page.
    made.onerror = () => {
      worker.current = null;
      const wanted = asked.current;
      void here(requestOf(wanted.id, wanted.history)).then((places) =>
        setPlaced({ history: wanted.history, places }),
      );
    };
    return () => made.terminate();
  }, []);

  useEffect(() => {
    const id = asked.current.id + 1;
    asked.current = { id, history };
    if (worker.current) worker.current.postMessage(requestOf(id, history));
    else void here(requestOf(id, history)).then((places) => setPlaced({ history, places }));
  }, [history]);

  return placed;
}

/** The best of what was made from one commit stands above the others: what comes last is on top. */
export function requestOf(id: number, history: History): LayoutRequest {
  const scoreOf = (one: string) => history.commits.get(one)?.score ?? -1;
  const worstFirst = [...history.commits.keys()].sort(
    (one, other) => scoreOf(one) - scoreOf(other),
  );
  const parents = new Map(history.edges.map(({ from, to }) => [to, from]));
  return {
    id,
    nodes: worstFirst.map((one) => ({ id: one, ...NODE })),
    edges: worstFirst.flatMap((to) => {
      const from = parents.get(to);
      return from === undefined ? [] : [{ from, to, lit: false, merged: false }];
    }),
  };
}

async function here(wanted: LayoutRequest): Promise<LayoutAnswer['places']> {
  const { arrange } = await import('@/components/graph/layout');
  return arrange(wanted).places;
}
