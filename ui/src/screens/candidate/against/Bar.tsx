import { useEffect, useRef, useState } from 'react';
import { Segmented } from '@/components/Tabs';
import { useAddress } from '@/lib/address';
import { againstOf } from './against';
import { CandidatePicker } from './Picker';
import type { RunCandidate } from '../data';
import type { Other } from './useOther';

type Quick = 'parent' | 'baseline' | 'active' | 'other' | 'none';

/** With what to compare: the near choices as buttons, all others by search. */
export function AgainstBar({
  candidate,
  run,
  other,
}: {
  candidate: RunCandidate;
  run: { id: string; baselineId: string | null };
  other: Other;
}) {
  const address = useAddress();
  const [picking, setPicking] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!picking) return;
    const outside = (event: MouseEvent) => {
      if (!box.current?.contains(event.target as Node)) setPicking(false);
    };
    document.addEventListener('mousedown', outside);
    return () => document.removeEventListener('mousedown', outside);
  }, [picking]);
  const chosen = chosenOf(address.get('against'), candidate, run.baselineId);
  const parent = candidate.parents[0];
  const options: { value: Quick; label: string }[] = [];
  if (parent && parent.candidate_id !== run.baselineId)
    options.push({ value: 'parent', label: `Parent (${parent.number})` });
  if (!candidate.baseline && run.baselineId) options.push({ value: 'baseline', label: 'Baseline' });
  options.push({ value: 'active', label: 'Active version' });
  return (
    <div className="candidate-against" ref={box}>
      <span className="muted" id="candidate-against-label">
        Compared with
      </span>
      <Segmented<Quick>
        label="Compared with"
        options={options}
        chosen={chosen}
        onChoose={(value) => address.set({ against: value, item: null })}
      />
      <button
        type="button"
        className={`btn small ${chosen === 'other' ? 'candidate-chosen' : ''}`}
        aria-expanded={picking}
        aria-haspopup="dialog"
        onClick={() => setPicking(!picking)}
      >
        {chosen === 'other' ? other.title : 'Any other…'}
      </button>
      {picking && (
        <CandidatePicker
          runId={run.id}
          own={candidate.candidate_id}
          onClose={() => setPicking(false)}
          onChoose={(id) => {
            address.set({ against: id, item: null });
            setPicking(false);
          }}
        />
      )}
    </div>
  );
}

function chosenOf(value: string, candidate: RunCandidate, baselineId: string | null): Quick {
  const against = againstOf(value, candidate, baselineId);
  if (against.kind === 'active') return 'active';
  if (against.kind === 'none') return 'none';
  // A child of the baseline has one button for both.
  if (against.id === baselineId) return 'baseline';
  return against.id === candidate.parents[0]?.candidate_id ? 'parent' : 'other';
}
