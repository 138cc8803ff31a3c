import { change, exactMoney, interval, money, score } from '@/lib/format';

/** A change against something: signed, coloured by whether it is welcome, with its interval. */
export function Change({
  value,
  low,
  high,
  welcome = 'up',
  digits = 3,
  unit = '',
}: {
  value: number | null | undefined;
  low?: number | null;
  high?: number | null;
  welcome?: 'up' | 'down';
  digits?: number;
  unit?: string;
}) {
  if (value === null || value === undefined) return <span className="muted">–</span>;
  const text = change(value, digits);
  const better = welcome === 'up' ? value > 0 : value < 0;
  const tone = /[1-9]/.test(text) ? (better ? 'good' : 'bad') : 'muted';
  const range = interval(low, high, digits);
  return (
    <span className="nowrap">
      <span className={tone}>
        {text}
        {unit}
      </span>
      {range !== '' && (
        <span className="muted small" title="95% interval">
          {' '}
          ({range})
        </span>
      )}
    </span>
  );
}

export function Score({ value }: { value: number | null | undefined }) {
  return (
    <span title={value === null || value === undefined ? '' : String(value)}>{score(value)}</span>
  );
}

/** To the cent, with the exact sum on hover. */
export function Money({ value }: { value: number | null | undefined }) {
  return <span title={exactMoney(value)}>{money(value)}</span>;
}
