import type { ReactNode } from 'react';
import { useWidth } from '@/components/ChartFrame';

/** Draws once it knows how wide it is. It comes and goes with the chart, so it measures anew. */
export function Measured({
  panel,
  children,
  foot,
}: {
  panel: string;
  children: (width: number) => ReactNode;
  foot: ReactNode;
}) {
  const [element, width] = useWidth();
  return (
    <div ref={element} className="score-body" data-panel={panel}>
      {width > 0 && children(width)}
      {foot}
    </div>
  );
}
