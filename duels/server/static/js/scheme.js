// Before the first paint: light or dark as it was chosen.
try {
  document.documentElement.dataset.scheme = localStorage.getItem('duels.scheme') ?? 'auto';
} catch { /* as the system has it */ }
