/** The words of approvals in English. */

/** Why the buttons take no answer. */
export const en = {
  wait: 'You can confirm when this window has been in front for a second.',
  opened:
    'Another page has opened this tab and can change what it shows, so nothing can be confirmed here. Open the console in a new tab.',
};

/** The entries that a language has. */
export type ApprovalWords = typeof en;
