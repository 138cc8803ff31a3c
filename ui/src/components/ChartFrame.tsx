import { useEffect, useRef, useState, type ReactNode } from 'react';
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

/** How wide an element is, for charts that fill it. */
export function useWidth(): [React.RefObject<HTMLDivElement | null>, number] {
  const element = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const target = element.current;
    if (!target) return;
    const watch = new ResizeObserver(([entry]) => entry && setWidth(entry.contentRect.width));
    watch.observe(target);
    return () => watch.disconnect();
  }, []);
  return [element, width];
}
