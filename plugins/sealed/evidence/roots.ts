/** SHA-256 of the DER of every trusted root. Evidence may contain its root; only these roots are accepted. */
export const roots = {
  'sev-snp': {
    Milan: '69d063b45344d26a2e94e1f4210de49ef555308287d4c174445c95639a540bcd',
    Genoa: '4c6598d19c18719c5dfd4a7d335f674e5bfe1d8f800cea2cf270c10d103db2f1',
    Turin: '1f084161a44bb6d93778a904877d4819cafa5d05ef4193b2ded9dd9c73dd3f6a',
  },
  tdx: '44a0196b2b99f889b8e149e95b807a350e7424964399e885a7cbb8ccfab674d3',
  nitro: '641a0321a3e244efe456463195d606317ed7cdcc3c1756e09893f3c68f79bb5b',
} as const
