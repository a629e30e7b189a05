/** Whether the person has had the time to read a question. */
import { useSignal } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';

/** Milliseconds: longer than a double click, and than a person needs to notice that another page has appeared. */
const READ_MS = 1000;

const isInFront = () => document.visibilityState === 'visible' && document.hasFocus();

/** True when the page has been visible and had the focus for a second without interruption since the component appeared. */
export function useAttention(): boolean {
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
    const finish = () => {
      hasRead.value = isInFront();
    };
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
