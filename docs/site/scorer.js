// Which page a search shows first: one whose title has the words that were asked for, and pages to read before pages to look up.
var Scorer = {
  score: (result) => {
    const [page, title, , , score] = result;
    const asked = (new URLSearchParams(window.location.search).get("q") || "").trim().toLowerCase();
    const named = asked && title.toLowerCase().includes(asked);
    const made = /^(api|library|gallery)\//.test(page);
    const beside = made || /^(changelog|certificate-|reproduction|errors-in)/.test(page);
    return score + (named ? (made ? 20 : 100) : 0) - (beside ? 30 : 0);
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
