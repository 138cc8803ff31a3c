import { useSyncExternalStore, type MouseEvent, type ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import { useRows } from '@/lib/rows';
import './list.css';

interface ListProps<Line> {
  lines: readonly Line[];
  /** What a line is: its id stands in the page as `data-<kind>`. */
  kind: 'run' | 'evaluation' | 'item';
  idOf: (line: Line) => string;
  /** Where one id has several lines. */
  keyOf?: (line: Line) => string;
  pathOf: (line: Line) => string;
  /** Without one there are cards at every width. */
  table?: { className?: string; head: ReactNode; cells: (line: Line) => ReactNode };
  card: (line: Line) => ReactNode;
  cardClass?: string;
  /** Inside of a card: without frames of its own. */
  plain?: boolean;
}

/** Rows of a table, or cards where a table has no room; `j`, `k` and Enter go over both. */
export function List<Line>({
  lines,
  kind,
  idOf,
  keyOf = idOf,
  pathOf,
  table,
  card,
  cardClass = '',
  plain = false,
}: ListProps<Line>) {
  const [, go] = useLocation();
  const narrow = useNarrow();
  const [selected] = useRows(lines.length, (index) => {
    const line = lines[index];
    if (line) go(pathOf(line));
  });
  const marks = (line: Line, index: number) => ({
    'data-row': index,
    [`data-${kind}`]: idOf(line),
    'data-selected': index === selected,
  });
  if (narrow || !table)
    return (
      <ul className={plain ? 'list-lines' : 'list-cards'}>
        {lines.map((line, index) => (
          <li
            key={keyOf(line)}
            className={plain ? undefined : `card list-card ${cardClass}`}
            {...marks(line, index)}
          >
            {card(line)}
          </li>
        ))}
      </ul>
    );
  return (
    <div className={plain ? 'table-wrap' : 'card table-wrap'}>
      <table className={`table list-table ${table.className ?? ''}`}>
        <thead>
          <tr>{table.head}</tr>
        </thead>
        <tbody>
          {lines.map((line, index) => (
            <tr
              key={keyOf(line)}
              className="link"
              {...marks(line, index)}
              onClick={() => go(pathOf(line))}
            >
              {table.cells(line)}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface NameProps {
  href: string;
  name: ReactNode;
  children: ReactNode;
}

/** The first cell of a row: its name, and below what it is about. */
export function NameCell({ href, name, children }: NameProps) {
  return (
    <td className="list-name">
      <Link href={href} onClick={(event: MouseEvent) => event.stopPropagation()}>
        {name}
      </Link>
      <span className="muted small clip">{children}</span>
    </td>
  );
}

/** The first line of a card: its name, and on the other side its state. */
export function CardHead({ href, name, children }: NameProps) {
  return (
    <div className="row between">
      <Link href={href} className="list-card-link">
        {name}
      </Link>
      {children}
    </div>
  );
}

const PHONE = '(max-width: 760px)';

/** Whether the page is as narrow as a phone: tables become cards there. */
function useNarrow(): boolean {
  return useSyncExternalStore(
    (tell) => {
      const media = window.matchMedia(PHONE);
      media.addEventListener('change', tell);
      return () => media.removeEventListener('change', tell);
    },
    () => window.matchMedia(PHONE).matches,
  );
}
