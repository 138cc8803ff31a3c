import { Link } from 'wouter';
import { Card } from '@/components/Card';
import { count } from '@/lib/format';
import { asConfiguration, changesInWords, compareConfigurations } from '@/lib/configurations';
import { wordDiff, type Piece } from '@/lib/words';
import type { RunView } from './view';
import { errorWords, evidenceWords, overruledWords, stopWords } from './words';

const SHOWN_PARTS = 3;

/** The winner: what speaks for it, what it changed, and the way to promote it. */
export function Outcome({ run }: { run: RunView }) {
  const { best, baseline } = run;
  const running = run.status === 'running';
  const won = best !== null && best.candidate_id !== baseline?.candidate_id;
  const path = `/runs/${run.optimization_id}/candidates/${best?.candidate_id ?? ''}`;
  return (
    <Card
      title={won ? `${running ? 'Best so far' : 'Winner'}: candidate ${best.number}` : 'Winner'}
      actions={
        won && (
          <>
            <Link href={path} className="btn small">
              Open
            </Link>
            {!running && (
              <Link href={`${path}?promote=1`} className="btn small primary">
                Promote
              </Link>
            )}
          </>
        )
      }
    >
      <div className="stack">
        <Evidence run={run} won={won} />
        {won && <ShortDiff run={run} path={path} />}
        <SearchCounts run={run} />
      </div>
    </Card>
  );
}

function Evidence({ run, won }: { run: RunView; won: boolean }) {
  const stopped = stopWords(run);
  // A baseline compared with itself proves nothing.
  if (run.evidence && won) {
    const words = evidenceWords(run.evidence, run.compression);
    return (
      <div className="stack tight" data-evidence={words.verdict}>
        <p className="run-headline">
          {words.headline} <span className={`badge ${words.tone}`}>{words.verdict}</span>
        </p>
        <p className="muted small">
          {words.interval}. {words.items}. {overruledWords(run.evidence)} {stopped}
        </p>
        {errorWords(run).map((words) => (
          <p key={words} className="badge warn">
            {words}
          </p>
        ))}
      </div>
    );
  }
  if (run.status === 'running')
    return (
      <p className="muted">
        {won
          ? 'The search goes on. The winner is compared with the baseline on held-out items at the end.'
          : 'Nothing better than the baseline so far.'}
      </p>
    );
  if (run.best === null) return <p className="muted">There is no candidate with a score.</p>;
  return (
    <p className="muted">
      {won
        ? 'It was not compared on held-out items: its score is from the items it was chosen on.'
        : 'The baseline is still the best.'}{' '}
      {/* The notice of a stopped run says it already. */}
      {run.status !== 'cancelled' && stopped}
    </p>
  );
}

/** How the search went, in numbers. */
function SearchCounts({ run }: { run: RunView }) {
  const { completed, pruned, failed, cancelled, rejected, mini_batches: batches } = run.counters;
  const counts: [string, number, string][] = [
    ['Completed', completed, 'Trials that ended with a score'],
    ['Pruned', pruned, 'Trials that were ended early, because they would not win'],
    ['Failed', failed, 'Trials that ended without a score'],
    ['Cancelled', cancelled, 'Trials that were stopped before they ended'],
    ['Refused', rejected, 'Proposals that were not tried; the tab Rejections says why'],
    ['Mini-batches', batches, 'Quick looks at a few items'],
  ];
  return (
    <dl className="run-totals run-counts">
      {counts.map(([label, many, says]) => (
        <div key={label} title={says}>
          <dt>{label}</dt>
          <dd>{count(many)}</dd>
        </div>
      ))}
    </dl>
  );
}

function ShortDiff({ run, path }: { run: RunView; path: string }) {
  const changes = compareConfigurations(
    asConfiguration(run.baseline?.configuration),
    asConfiguration(run.best?.configuration),
  );
  const parts = [...changes.sections, ...changes.parameters, ...changes.examples].filter(
    (part) => part.change !== 'same',
  );
  const more = parts.length - SHOWN_PARTS;
  return (
    <div className="stack tight">
      <h3>Changed against the baseline: {changesInWords(changes)}</h3>
      {parts.slice(0, SHOWN_PARTS).map((part) => (
        <div key={part.name} className="run-part">
          <code className="small">{part.name}</code>
          <div
            className="run-diff"
            tabIndex={0}
            role="region"
            aria-label={`Change of ${part.name}`}
          >
            <Shortened before={part.before ?? ''} after={part.after ?? ''} />
          </div>
        </div>
      ))}
      {more > 0 && (
        <Link href={path} className="small">
          {more === 1 ? 'One more change' : `${more} more changes`}
        </Link>
      )}
    </div>
  );
}

function Shortened({ before, after }: { before: string; after: string }) {
  return (
    <div className="diff">
      {condensed(wordDiff(before, after)).map((piece, index) => {
        if (piece.kind === 'added') return <ins key={index}>{piece.text}</ins>;
        if (piece.kind === 'removed') return <del key={index}>{piece.text}</del>;
        if (piece.kind === 'left out')
          return (
            <span key={index} className="run-left-out">
              {piece.text}
            </span>
          );
        return <span key={index}>{piece.text}</span>;
      })}
    </div>
  );
}

interface ShortPiece {
  kind: Piece['kind'] | 'left out';
  text: string;
}

const CONTEXT_LINES = 1;

/** The changes with a line around them; what stayed the same between them is left out. */
export function condensed(pieces: readonly Piece[]): ShortPiece[] {
  return pieces.flatMap((piece, index): ShortPiece[] => {
    if (piece.kind !== 'same') return [piece];
    const lines = piece.text.split('\n');
    const head = index === 0 ? 0 : CONTEXT_LINES + 1;
    const tail = index === pieces.length - 1 ? 0 : CONTEXT_LINES + 1;
    const between = lines.length - head - tail;
    // A gap of one line is as long as the words that would stand for it.
    if (between <= 1) return [piece];
    const kept = (part: readonly string[]): ShortPiece[] =>
      part.length === 0 ? [] : [{ kind: 'same', text: part.join('\n') }];
    return [
      ...kept(lines.slice(0, head)),
      { kind: 'left out', text: `${between} lines unchanged` },
      ...kept(lines.slice(lines.length - tail)),
    ];
  });
}
