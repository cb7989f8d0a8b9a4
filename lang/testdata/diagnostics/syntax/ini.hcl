[DEFAULT]
debug = true
