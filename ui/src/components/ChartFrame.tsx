import { useCallback, useRef, useState, type ReactNode } from 'react';
import { Card } from './Card';
import { Segmented } from './Tabs';

/** A chart and the same as a table: whoever cannot see or hover a chart reads the numbers. */
export function ChartFrame({
  title,
  controls,
  chart,
  table,
}: {
  title: string;
  controls?: ReactNode;
  chart: ReactNode;
  table: ReactNode;
}) {
  const [view, setView] = useState<'chart' | 'table'>('chart');
  return (
    <Card
      title={title}
      actions={
        <>
          {controls}
          <Segmented
            label={`View of ${title}`}
            chosen={view}
            onChoose={setView}
            options={[
              { value: 'chart', label: 'Chart' },
              { value: 'table', label: 'Table' },
            ]}
          />
        </>
      }
      flush
    >
      {view === 'chart' ? chart : table}
    </Card>
  );
}

/** How wide an element is, for charts that fill it. The element may go and come back. */
export function useWidth(): [(element: HTMLElement | null) => void, number] {
  const [width, setWidth] = useState(0);
  const watch = useRef<ResizeObserver | null>(null);
  const hold = useCallback((element: HTMLElement | null) => {
    watch.current?.disconnect();
    watch.current = null;
    if (!element) return;
    watch.current = new ResizeObserver(([entry]) => entry && setWidth(entry.contentRect.width));
    watch.current.observe(element);
  }, []);
  return [hold, width];
}
