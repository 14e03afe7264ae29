async () => (await axe.run(".explorer",
    {preload: false, resultTypes: ["violations"]})).violations
    .filter(v => ["serious", "critical"].includes(v.impact))
    .map(v => `${v.id}: ${v.nodes[0].html.slice(0, 200)}`)
