/**
 * Buttons that grant something or confirm a person. Another page can ask for a double click or a held key and put this page under it: such
 * presses approve nothing.
 */
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useLayoutEffect, useRef } from 'preact/hooks';
import { dictionary } from '../../text/text.ts';
import { useAttention } from './attention.ts';
import { isOpenedByOther } from './opener.ts';
import { Presses } from './presses.ts';

const words = dictionary('approval');

/** The state of a question that a person answers with an `ApproveButton`. */
interface Approval {
  /** Whether the buttons take an answer. */
  readonly isArmed: boolean;
  /** Id of the text that explains why they do not. */
  readonly noteId: string;
}

/** A question that has just appeared. Another question needs another one: give the component a key. */
export function useApproval(): Approval {
  const noteId = useId();
  const hasRead = useAttention();
  return { isArmed: hasRead && !isOpenedByOther, noteId };
}

interface ApproveButtonProps {
  readonly approval: Approval;
  readonly type?: 'button' | 'submit';
  readonly class?: string;
  /** True while an entry is missing, or an earlier answer is on its way. */
  readonly disabled?: boolean;
  /** Takes the focus each time it is armed: one press of Enter then approves. */
  readonly focusWhenArmed?: boolean;
  /** Absent for a submit button. */
  readonly onClick?: () => void;
  readonly children: ComponentChildren;
}

/** A button that is clicked only by presses that were meant for it. `ApprovalNote` belongs beside it. */
export function ApproveButton(props: ApproveButtonProps) {
  const { approval, type = 'button', focusWhenArmed = false, children, ...rest } = props;
  const { isArmed, noteId } = approval;
  const ref = useRef<HTMLButtonElement>(null);
  const presses = useRef<Presses | null>(null);
  useLayoutEffect(() => {
    if (!ref.current) return;
    presses.current = new Presses(ref.current);
    return presses.current.watch();
  }, []);
  useLayoutEffect(() => presses.current?.arm(isArmed), [isArmed]);
  useEffect(() => {
    if (isArmed && focusWhenArmed) ref.current?.focus();
  }, [isArmed, focusWhenArmed]);
  return (
    <button ref={ref} type={type} {...rest} {...(!isArmed && { 'aria-disabled': true, 'aria-describedby': noteId })}>
      {children}
    </button>
  );
}

/** Why the buttons take no answer yet. Its space remains, so that nothing moves under the pointer when they do. */
export function ApprovalNote({ approval: { isArmed, noteId } }: { readonly approval: Approval }) {
  return (
    <p id={noteId} role="status" class="hint approval">
      <span class={isArmed ? 'armed' : ''}>{isOpenedByOther ? words.value.opened : words.value.wait}</span>
    </p>
  );
}
