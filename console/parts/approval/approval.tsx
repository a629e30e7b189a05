/**
 * Buttons that grant something or confirm a person. Another page can ask for a double click or a held key and put this page under it: such
 * presses approve nothing.
 */
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useLayoutEffect, useRef } from 'preact/hooks';
import { approval as words } from '../../text/words.ts';
import { Presses } from './presses.ts';

/**
 * Marks a tab that another page has opened. That page keeps a handle that navigates the tab, and the name by which it finds it
 * again. The daemon's `Cross-Origin-Opener-Policy` cuts both. Browsers ignore that header on plain HTTP to another machine, so
 * this part does what it can before the first button that approves something is shown.
 */
const MARK = 'devmgr.opened';

// The mark outlasts a reload: the tab has no opener then, and the other page may still have its handle.
if (window.opener) {
  sessionStorage[MARK] = 1;
  window.opener = null;
}
window.name = '';

/** Whether another page has opened this tab and may still navigate it. */
const isOpenedByOther = MARK in sessionStorage;

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
export const ApprovalNote = ({ approval: { isArmed, noteId } }: { readonly approval: Approval }) => (
  <p id={noteId} role="status" class="hint approval">
    <span class={isArmed ? 'armed' : ''}>{isOpenedByOther ? words.opened : words.wait}</span>
  </p>
);

/** Milliseconds: longer than a double click, and than a person needs to notice that another page has appeared. */
const READ_MS = 1000;

const isInFront = () => document.visibilityState === 'visible' && document.hasFocus();

/** True when the page has been visible and had the focus for a second without interruption since the component appeared. */
function useAttention(): boolean {
  const hasRead = useSignal(false);
  useLayoutEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const interrupt = () => {
      clearTimeout(timer);
      hasRead.value = false;
    };
    const begin = () => {
      interrupt();
      if (isInFront()) timer = setTimeout(finish, READ_MS);
    };
    const finish = () => (hasRead.value = isInFront());
    begin();
    addEventListener('blur', interrupt);
    addEventListener('focus', begin);
    document.addEventListener('visibilitychange', begin);
    return () => {
      clearTimeout(timer);
      removeEventListener('blur', interrupt);
      removeEventListener('focus', begin);
      document.removeEventListener('visibilitychange', begin);
    };
  }, []);
  return hasRead.value;
}
