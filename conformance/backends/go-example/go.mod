module gather

go 1.18
