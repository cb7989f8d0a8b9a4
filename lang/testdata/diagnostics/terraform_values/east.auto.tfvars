given = 2
