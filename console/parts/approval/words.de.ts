/** The words of approvals, in German. */
import type { ApprovalWords } from './words.en.ts';

/** Why the buttons take no answer. */
export const de: ApprovalWords = {
  wait: 'Bestätigen können Sie, wenn dieses Fenster eine Sekunde lang vorn war.',
  opened:
    'Eine andere Seite hat diesen Tab geöffnet und kann ändern, was er zeigt. Hier kann deshalb nichts bestätigt werden: Öffnen Sie die Konsole in einem neuen Tab.',
};
