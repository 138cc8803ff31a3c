import { useMemo, useState, type KeyboardEvent } from 'react';
import { Score } from '@/components/Numbers';
import { Loaded } from '@/components/States';
import { Status } from '@/components/Status';
import { isFull, usePoints } from '@/screens/run/points';
import { findChoices, inOrder, type Choice } from './against';
import { counted } from '../../../lib/format';

const SHOWN = 60;

/** All candidates of the run, by number or by words of their rationale. */
export function CandidatePicker({
  runId,
  own,
  onChoose,
  onClose,
}: {
  runId: string;
  own: string;
  onChoose: (id: string) => void;
  onClose: () => void;
}) {
  const { query } = usePoints(runId, { polling: false });
  const [sought, setSought] = useState('');
  const [at, setAt] = useState(0);
  const choices = useMemo(() => choicesOf(query.data, own), [query.data, own]);
  const found = useMemo(() => findChoices(choices, sought), [choices, sought]);
  const shown = found.slice(0, SHOWN);
  const onKey = (event: KeyboardEvent) => {
    const moves: Record<string, number> = { ArrowDown: 1, ArrowUp: -1 };
    const step = moves[event.key];
    if (step !== undefined) {
      event.preventDefault();
      const to = Math.max(0, Math.min(shown.length - 1, at + step));
      setAt(to);
      document.getElementById(`candidate-choice-${to}`)?.scrollIntoView({ block: 'nearest' });
    } else if (event.key === 'Enter') {
      event.preventDefault();
      const chosen = shown[at];
      if (chosen) onChoose(chosen.candidate_id);
    } else if (event.key === 'Escape') {
      event.preventDefault();
      event.stopPropagation();
      onClose();
    }
  };
  return (
    <div className="candidate-picker" role="dialog" aria-label="Choose a candidate to compare with">
      <input
        className="input"
        type="search"
        autoFocus
        role="combobox"
        aria-label="Search candidates"
        aria-expanded
        aria-controls="candidate-choices"
        aria-activedescendant={shown[at] ? `candidate-choice-${at}` : undefined}
        placeholder="Number or words of its rationale"
        value={sought}
        onKeyDown={onKey}
        onChange={(event) => {
          setSought(event.target.value);
          setAt(0);
        }}
      />
      <Loaded query={query}>
        {() => (
          <ul id="candidate-choices" role="listbox" aria-label="Candidates">
            {shown.map((one, index) => (
              <li
                key={one.candidate_id}
                id={`candidate-choice-${index}`}
                role="option"
                aria-selected={index === at}
                onMouseMove={() => setAt(index)}
                onClick={() => onChoose(one.candidate_id)}
              >
                <span className="row">
                  <strong>Candidate {one.number}</strong>
                  {one.number === 0 && <span className="badge">baseline</span>}
                  {one.status !== 'completed' && <Status value={one.status} />}
                  {one.partial && <span className="badge">mini-batch only</span>}
                  <span className="candidate-choice-score">
                    <Score value={one.score} />
                  </span>
                </span>
                {one.rationale && <span className="muted small clip">{one.rationale}</span>}
              </li>
            ))}
          </ul>
        )}
      </Loaded>
      {query.data && (
        <span className="muted small" role="status">
          {found.length === 0
            ? 'No candidate is like that.'
            : found.length > SHOWN
              ? `The first ${SHOWN} of ${found.length}: type to narrow it.`
              : counted(found.length, 'candidate')}
        </span>
      )}
    </div>
  );
}

function choicesOf(set: ReturnType<typeof usePoints>['query']['data'], own: string): Choice[] {
  if (!set) return [];
  const others = [...set.byNumber.values()].filter((point) => point.candidate_id !== own);
  return inOrder(
    others.map((point) => ({
      candidate_id: point.candidate_id,
      number: point.number,
      score: point.score,
      status: point.status,
      rationale: point.rationale,
      partial: !isFull(point),
    })),
  );
}
