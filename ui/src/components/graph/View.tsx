import { Panel, useReactFlow } from '@xyflow/react';
import type { ReactNode } from 'react';

/** A graph to look at and to move in: nothing in it is dragged, joined or deleted. */
export const LOOKED_AT = {
  nodesDraggable: false,
  nodesConnectable: false,
  nodesFocusable: false,
  edgesFocusable: false,
  elementsSelectable: false,
  disableKeyboardA11y: true,
  deleteKeyCode: null,
  selectionKeyCode: null,
  multiSelectionKeyCode: null,
  panActivationKeyCode: null,
  // The wheel belongs to the page; with Ctrl it zooms.
  zoomOnScroll: false,
  preventScrolling: false,
  onlyRenderVisibleElements: true,
} as const;

interface ZoomPanelProps {
  /** No closer than this when all of it is to be seen. */
  closest: number;
  /** Without one there is no best to go to. */
  onBest: (() => void) | null;
  children?: ReactNode;
}

/** The buttons of a graph's corner. */
export function ZoomPanel({ closest, onBest, children }: ZoomPanelProps) {
  const flow = useReactFlow();
  return (
    <Panel position="top-left" className="row">
      <div className="segmented" role="group" aria-label="Zoom" title="Ctrl and wheel zooms too">
        <button type="button" onClick={() => void flow.zoomIn()} aria-label="Zoom in">
          +
        </button>
        <button type="button" onClick={() => void flow.zoomOut()} aria-label="Zoom out">
          −
        </button>
        <button
          type="button"
          onClick={() => void flow.fitView({ maxZoom: closest, padding: 0.06 })}
        >
          Fit
        </button>
        {onBest && (
          <button type="button" onClick={onBest}>
            Best
          </button>
        )}
      </div>
      {children}
    </Panel>
  );
}
