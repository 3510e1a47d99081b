// Applies the stored colour scheme before the first paint.
try {
  document.documentElement.dataset.scheme = localStorage.getItem('duels.scheme') ?? 'auto';
} catch { /* as the system has it */ }
