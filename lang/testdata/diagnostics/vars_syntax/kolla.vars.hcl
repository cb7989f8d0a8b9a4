password = hunter2 hunter2
other hunter2.a
third 'hunter2'
fourth "hunter2"
fifth = "hunter2
